/** Drawn on a 20 by 20 grid with one stroke. */
const PATHS = {
  inbox: 'M3 11h4l1.2 2.5h3.6L13 11h4M3 11v4.5h14V11M3 11l2.4-6.5h9.2L17 11',
  runs: 'M3 5h6M3 10h10M3 15h4M12 5h5M16 10h1M10 15h7',
  playground: 'M4 5l4.5 5L4 15M10.5 15H16',
  tools: 'M12.5 3.5a4 4 0 0 0-4.6 5.4L3.5 13.3a2.2 2.2 0 0 0 3.1 3.1L11 12a4 4 0 0 0 5.4-4.6l-2.5 2.5-2.9-.9-.9-2.9z',
  policy: 'M10 3l6 2.2v4.3c0 3.6-2.4 6.2-6 7.5-3.6-1.3-6-3.9-6-7.5V5.2zM7.5 9.8l1.9 1.9 3.4-3.6',
  audit: 'M5 3h7l3 3v11H5zM8 9h4M8 12.5h4',
  usage: 'M4 16V9M8.5 16V4M13 16v-5M17 16H3',
  connect: 'M8 12l4-4M7 9.5L5 11.6a2.5 2.5 0 0 0 3.5 3.5l2-2.1M13 10.5l2-2.1A2.5 2.5 0 0 0 11.500 5l-2 2',
  moon: 'M15.5 12A6.500 6.500 0 0 1 8 4.500 6.500 6.500 0 1 0 15.500 12z',
  close: 'M5 5l10 10M15 5L5 15',
  search: 'M8.500 14a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM12.500 12.500L17 17',
  help: 'M7.500 7.500a2.500 2.500 0 1 1 3.600 2.300c-.8.4-1.100.9-1.100 1.700M10 14.500v.1',
  bell: 'M5 14h10l-1.300-2V9a3.700 3.700 0 0 0-7.400 0v3zM8.500 16.500h3',
  file: 'M5 3h7l3 3v11H5zM12 3v3h3',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true">
      <path d={PATHS[name]} stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
