export interface ScreenProps {
  /** The path after the screen's name in the address. */
  readonly path: readonly string[];
}
