const BROWSERS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
const foundIn = (agent: string, table: typeof BROWSERS): string | undefined =>
  table.find(([mark]) => mark.test(agent))?.[1];

/** What a browser says of itself, in the words of people: a guess, good enough to know one's own. */
export function browserName(agent: string): string {
  const [browser, system] = [foundIn(agent, BROWSERS), foundIn(agent, SYSTEMS)];
  if (browser === undefined && system === undefined) return agent === '' ? 'Unknown browser' : agent.slice(0, 60);
  return [browser ?? 'A browser', system].filter((one) => one !== undefined).join(' on ');
}

const WAYS: Readonly<Record<string, string>> = {
  link: 'one-time link',
  password: 'password',
  provider: 'company account',
  invitation: 'invitation',
  owner_token: 'owner token',
};
/** How somebody came in. */
export const wayWords = (way: string): string => WAYS[way] ?? way;
