/** A program and its calls. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#15181c" stroke="#444b53" />
      <path d="M8 9h11M8 16h16M8 23h7" stroke="#fff" stroke-width="3" stroke-linecap="round" />
      <circle cx="23" cy="9" r="2.2" fill="#f0a92e" />
      <circle cx="19.5" cy="23" r="2.2" fill="#3bb58a" />
    </svg>
  );
}
