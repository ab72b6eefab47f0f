// Before the first paint, so that a chosen theme does not flash in from the other one.
try {
  const theme = localStorage.getItem("second-brain.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off: the system's theme it is.
}
