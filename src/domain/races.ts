/** Whether a source lets calls race: those that lose are left open by intent. */
export function makesRaces(source: string): boolean {
  return RACES.test(source);
}

const RACES = /\bPromise\s*\.\s*(?:race|any)\b/;
