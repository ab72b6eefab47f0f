// What the browser keeps for this page; where storage is switched off, nothing is kept.

export function read<T extends string>(key: string, known: readonly T[], otherwise: T): T {
  const value = readText(key);
  return known.find((k) => k === value) ?? otherwise;
}

export function readText(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a value, for this tab only with `brief`; null takes it away. */
export function write(key: string, value: string | null, brief = false): void {
  try {
    localStorage.removeItem(key);
    sessionStorage.removeItem(key);
    if (value !== null) (brief ? sessionStorage : localStorage).setItem(key, value);
  } catch {
    // Switched off.
  }
}
