// The icons, drawn here: 24 units wide, in the colour of the text, hidden from screen readers.

const PATHS = {
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14Zm5 12 4.5 4.5",
  clock: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 8v4.3l3 1.9",
  pen: "m4 20 1-4L16 5a2.1 2.1 0 0 1 3 3L8 19l-4 1Zm10-13 3 3",
  graph: "M6 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM18 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8.5 20.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8.4 6.5l7.2 2.3M6.5 8.5l1.4 7M16.3 11.3l-5.8 5",
  review: "M4 6h10M4 12h7M4 18h6M14 16.5l2.5 2.5 4.5-6",
  gear: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4ZM9 14.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4Z",
  back: "m14 6-6 6 6 6",
  close: "m6 6 12 12M18 6 6 18",
  out: "M13 5h6v6M19 5l-9 9M10 6H6a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1v-4",
  down: "m6 9 6 6 6-6",
  undo: "M9 7 5 11l4 4M5 11h9a5 5 0 0 1 0 10h-3",
  trash: "M5 7h14M10 7V4.5h4V7m-7.5 0 .8 12.5h9.4L17.5 7",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1",
  plus: "M12 5v14M5 12h14",
  check: "m5 12.5 4.5 4.5L19 7.5",
  filter: "M4 6h16M7 12h10M10 18h4",
  alert: "M12 4 2.8 19.5h18.4L12 4Zm0 6v4.5m0 2.3v.2",
  door: "M14 4H6v16h8M10 12h10m-3.5-3.5L20 12l-3.5 3.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
