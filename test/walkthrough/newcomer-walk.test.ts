import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';

/*
 * Walks of a newcomer from README.md to the answers to twenty questions. A walk lists the texts of at most three links. Its last
 * page contains the answer: a sentence, a heading or a row of a table.
 */

type Walk = {
  readonly question: string;
  /** Texts of links, the first in README.md. */
  readonly clicks: readonly string[];
  /** Text of the last page. */
  readonly answer: string;
};

const WALKS: Readonly<Record<string, readonly Walk[]>> = {
  'product people': [
    {
      question: 'Can people get one message a day instead of twenty?',
      clicks: ['All documentation', 'digests'],
      answer: 'several messages to one person become one',
    },
    {
      question: 'Can people sleep, each in their own time zone?',
      clicks: ['All documentation', 'quiet hours'],
      answer: 'times on the clock of the person',
    },
    {
      question: 'Can a mail be in the language of its reader?',
      clicks: ['All documentation', 'languages'],
      answer: '# Write a template in several languages',
    },
    {
      question: 'Who would get a message if I changed this rule?',
      clicks: ['All documentation', 'replay.md'],
      answer: 'who would have been notified over the last 30 days',
    },
    {
      question: 'What happens if somebody wants no more mails?',
      clicks: ['All documentation', 'consent.md'],
      answer: 'every message has links with which a person stops it',
    },
  ],
  developers: [
    {
      question: 'How does my program send an event, once?',
      clicks: ['Send every change'],
      answer: 'The same key is the same event',
    },
    {
      question: 'Can I send from a web page without giving away a key?',
      clicks: ['All documentation', 'send-from-a-page.md'],
      answer: 'never an API key',
    },
    {
      question: 'What does the code `claim_mismatch` mean, and what do I do?',
      clicks: ['All documentation', 'Errors'],
      answer: '| `claim_mismatch` | 403 |',
    },
    {
      question: 'Can my CI test a rule?',
      clicks: ['Test a rule'],
      answer: '--junit cases.xml',
    },
    {
      question: 'What may I write in a notification file?',
      clicks: ['All documentation', 'notification'],
      answer: '| `rules.<name>.when` |',
    },
  ],
  operators: [
    {
      question: 'How do I back it up while it runs?',
      clicks: ['Operations', 'Back up and restore'],
      answer: 'you make backups while Carillon runs',
    },
    {
      question: 'No mail goes out. Where do I look?',
      clicks: ['All documentation', 'messages-do-not-go-out.md'],
      answer: '## Mail does not go out',
    },
    {
      question: 'Was this message sent or not? It says in doubt.',
      clicks: ['Operations', 'Doubts and dead letters'],
      answer: '## Something is in doubt',
    },
    {
      question: 'Which ports does it open, and how do I change them?',
      clicks: ['All documentation', 'Environment variables'],
      answer: '| `CARILLON_CONTROL_PORT` | `--control-port` | `7401` |',
    },
    {
      question: 'How do I run it on more than one machine?',
      clicks: ['Cluster'],
      answer: 'the four roles run on Kafka, MongoDB and a schema registry',
    },
  ],
  contributors: [
    {
      question: 'How do I run one test?',
      clicks: ['Contributing'],
      answer: 'runs one test in seconds',
    },
    {
      question: 'Which files does a new provider need?',
      clicks: ['Contributing'],
      answer: '| `libs/shapes/src/providers/<kind>.ts` |',
    },
    {
      question: 'How do I add a store?',
      clicks: ['Contributing', 'Add something else'],
      answer: 'Write `libs/stores/src/<store>.ts`',
    },
    {
      question: 'Which lane does my test belong to?',
      clicks: ['Contributing', 'Tests'],
      answer: '# Lanes of tests',
    },
    {
      question: 'May I change what a released API answers?',
      clicks: ['Contributing', 'Add something else', 'what does, what does not'],
      answer: 'A released API is broken by a decision only',
    },
  ],
};

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Returns the file that the link with this text leads to. Throws if the page has no such link. */
function follow(file: string, text: string): string {
  const prose = textOf(file).replaceAll(/^```[\s\S]*?^```$/gm, '');
  const link = [...prose.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].find(([, name]) => name === text);
  if (link === undefined) throw new Error(`${file} has no link "${text}"`);
  const [path = ''] = (link[2] ?? '').split('#');
  return path === '' ? file : posix.join(dirname(file), path);
}

describe.each(Object.entries(WALKS))('From README.md, questions of %s', (_asker, walks) => {
  it('are five in number', () => {
    expect(walks).toHaveLength(5);
  });

  it.each(walks)('lead to an answer within three links: $question', ({ clicks, answer }) => {
    expect(clicks.length).toBeLessThanOrEqual(3);
    const page = clicks.reduce(follow, 'README.md');
    expect(textOf(page).replaceAll(/\s+/g, ' ')).toContain(answer);
  });
});
