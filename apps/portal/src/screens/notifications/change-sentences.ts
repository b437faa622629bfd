import { byWords, cadenceWords, occasionOf, onceWords, rulesOf, whenWords, whomWords } from './sentence.ts';
import { cooldownWords } from './waiting-words.ts';

type Loose = Readonly<Record<string, unknown>>;
/** One thing that a notification does, as a sentence without its full stop. */
type Part = {
  readonly key: string;
  readonly words: string;
  /** Paths of the values that the sentence tells. */
  readonly tells: RegExp;
};

const capital = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1);

function partsOf(body: Loose | null): readonly Part[] {
  if (body === null) return [];
  const cadence = (body['cadence'] ?? {}) as Loose;
  return [
    ...(body['enabled'] === false
      ? [{ key: 'enabled', words: 'Switched off: nothing fires', tells: /^enabled$/ }]
      : []),
    ...rulesOf(body).flatMap(([name, rule]) => partsOfRule(body, name, rule)),
    { key: 'channels', words: `Sent by ${byWords(body)}`, tells: /^channels\.\w+$/ },
    ...CADENCE.flatMap(([key, tells]) =>
      cadenceWords({ [key]: cadence[key] }).map((words, at) => ({ key: `${key} ${at}`, words: capital(words), tells })),
    ),
  ];
}

const CADENCE = [
  ['limits', /^cadence\.limits$|^cadence$/],
  ['quiet_hours', /^cadence\.quiet_hours(?:$|\.from$|\.to$)|^cadence$/],
  ['digest', /^cadence\.digest$|^cadence$/],
  ['delay', /^cadence\.delay(?:$|\.)|^cadence$/],
] as const;

function partsOfRule(body: Loose, name: string, rule: Loose): readonly Part[] {
  const at = String.raw`^rules\.${name}`;
  const [once = 'sent for every event'] = onceWords(rule).map((words) => `sent ${words}`);
  const off = rule['enabled'] === false ? [{ key: `${name} off`, words: 'is switched off', tells: 'enabled' }] : [];
  const parts = [
    ...off,
    {
      key: `${name} when`,
      words: `fires ${occasionOf(rule) ?? `when ${whenWords(rule)}`}`,
      tells: String.raw`when|stream|cohort(?:\.\w+)?|after|after_last|at|unless|if_past`,
    },
    ...cooldownWords(rule).map((words) => ({ key: `${name} cooldown`, words: `fires ${words}`, tells: 'cooldown' })),
    {
      key: `${name} whom`,
      words: `notifies ${whomWords(body, rule)}`,
      tells: String.raw`recipients\.(?:to\.\w+|for_each|from|integration)`,
    },
    { key: `${name} once`, words: `is ${once}`, tells: String.raw`recipients\.unique_id` },
  ];
  return parts.map(({ key, words, tells }) => ({
    key,
    words: `Rule ${name} ${words}`,
    tells: new RegExp(`${at}(?:$|\\.(?:${tells})$)`),
  }));
}

export type DescribedChanges = {
  /** What the notification does from now on, and what it did before. */
  readonly sentences: readonly string[];
  /** Whether a sentence tells what became of the value at this path. */
  readonly isDescribed: (path: string) => boolean;
};

/** Returns the changes of a notification as sentences. `before` is null for a new notification, `after` for a removed one. */
export function changeSentences(before: Loose | null, after: Loose | null): DescribedChanges {
  const [old, now] = [partsOf(before), partsOf(after)];
  const wordsIn = (parts: readonly Part[], key: string): string | undefined =>
    parts.find((part) => part.key === key)?.words;
  const changed = [...now, ...old.filter(({ key }) => wordsIn(now, key) === undefined)].filter(
    ({ key }) => wordsIn(old, key) !== wordsIn(now, key),
  );
  return {
    sentences: changed.map(({ key }) => {
      const [was, is] = [wordsIn(old, key), wordsIn(now, key)];
      if (is === undefined) return `No longer: ${was ?? ''}.`;
      return was === undefined ? `New: ${is}.` : `${is}. Before: ${was}.`;
    }),
    isDescribed: (path) => changed.some(({ tells }) => tells.test(path)),
  };
}
