import { chosenByFilter } from '@carillon/contracts';
import { nameOfTarget, personName, type Consents, type ConsentEntry } from '@carillon/domain/consent';
import { MAX_JOB_ITEMS, type Job } from '@carillon/domain/jobs';
import { CarillonError, type Instant } from '@carillon/kernel';
import { decideConsents, publishConsents } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { keyedTarget } from '../../audit/facts.ts';
import { consentFilters, consentWordFilter, personText } from '../../consent-filters.ts';
import { targetNames } from '../../consent-words.ts';
import { readChoice, requireExpected, upToTheCeiling } from '../choose.ts';
import { eachItem, jobKind, type JobKindPorts, type JobRun, type JobWorker } from '../kind.ts';

const { target, name, channel } = consentFilters;
export const chosenPeople = z.array(personText).min(1).max(MAX_JOB_ITEMS);
export const optOutFilter = z.strictObject({ person: personText.optional(), target, name, channel });

/** An opt-out that a job allows again. */
type OptOut = Pick<ConsentEntry, 'target' | 'channel' | 'at'> & {
  /** Time of the entry that allows it again. Later than the opt-out; undo recognizes the entry by it. */
  readonly allowedAt: Instant;
};
/** Work of a job for one person. The item is this value as JSON. */
export type AllowedPerson = { readonly person: string; readonly optOuts: readonly OptOut[] };

const namesOf = (texts: readonly string[], { ids }: Pick<JobKindPorts, 'ids'>): readonly string[] => [
  ...new Set(texts.map((text) => personName(text, (...parts) => ids.keyed(...parts)))),
];

/** Returns the chosen opt-outs of a person, or null if there are none. */
function allowedPerson(
  { person, words }: Consents,
  now: Instant,
  isChosen: (word: ConsentEntry) => boolean = () => true,
): AllowedPerson | null {
  const optOuts = words
    .filter((word) => word.optedOut && isChosen(word))
    .map(({ target: about, channel: on, at }) => ({
      target: about,
      channel: on,
      at,
      allowedAt: Math.max(now, at + 1),
    }));
  return optOuts.length === 0 ? null : { person, optOuts };
}

/** People whose documents are read at once. */
const BATCH_SIZE = 200;

/** Returns the people of these names who opted out of something, with all their opt-outs. */
export async function findOptOuts(
  workspace: string,
  texts: readonly string[],
  ports: Pick<JobKindPorts, 'consents' | 'ids' | 'clock' | 'slice'>,
): Promise<readonly AllowedPerson[]> {
  const found: AllowedPerson[] = [];
  const names = namesOf(texts, ports);
  for (let from = 0; from < names.length; from += BATCH_SIZE) {
    if (ports.slice.isExpired()) await ports.slice.yield();
    for (const document of await ports.consents.find(workspace, names.slice(from, from + BATCH_SIZE))) {
      const allowed = allowedPerson(document, ports.clock.now());
      if (allowed) found.push(allowed);
    }
  }
  return found;
}

/** Returns the people whose opt-outs match a filter, with the opt-outs that match. */
export async function matchOptOuts(
  request: FastifyRequest,
  workspace: string,
  { person, ...filters }: z.infer<typeof optOutFilter>,
  ports: JobKindPorts,
): Promise<{ readonly people: readonly AllowedPerson[]; readonly more: boolean }> {
  const configuration = ports.configuration.current();
  const isMatch = consentWordFilter(filters, visibleScopeOf(request), (named) => targetNames(configuration, named));
  const keep = (document: Consents): AllowedPerson | null =>
    allowedPerson(document, ports.clock.now(), (word) => isMatch(workspace, word));
  if (person !== undefined) {
    const documents = await ports.consents.find(workspace, namesOf([person], ports));
    return { people: documents.map(keep).filter((allowed) => allowed !== null), more: false };
  }
  const { rows, more } = await upToTheCeiling(
    (limit, cursor) => ports.consents.list(workspace, limit, cursor),
    keep,
    ports.slice,
  );
  return { people: rows, more };
}

const nameOf = (item: string, { workspace }: Pick<Job, 'workspace'>, ids: Pick<JobKindPorts['ids'], 'keyed'>): string =>
  keyedTarget(ids, workspace ?? '', (JSON.parse(item) as AllowedPerson).person);

const isAbout = (word: ConsentEntry, optOut: OptOut): boolean =>
  word.channel === optOut.channel &&
  word.target.kind === optOut.target.kind &&
  nameOfTarget(word.target) === nameOfTarget(optOut.target);

/** Returns the entry to write over the current one, `stays` if a later choice exists, or null if no write is needed. */
type Change = (current: ConsentEntry, optOut: OptOut) => Pick<ConsentEntry, 'optedOut' | 'at'> | 'stays' | null;

/** Returns a worker that changes the entries of each person. An entry that is newer than the written one wins in the store. */
const changeEach = ({ job }: JobRun<unknown>, ports: JobKindPorts, change: Change): JobWorker =>
  eachItem(
    ports,
    async (item) => {
      const workspace = job.workspace ?? '';
      const { person, optOuts } = JSON.parse(item) as AllowedPerson;
      const [before] = await ports.consents.find(workspace, [person]);
      const changes = optOuts.flatMap((optOut) => {
        const current = before?.words.find((word) => isAbout(word, optOut));
        const entry = current ? change(current, optOut) : null;
        return entry === null ? [] : [{ optOut, entry }];
      });
      const decisions = changes.flatMap(({ optOut, entry }) =>
        entry === 'stays'
          ? []
          : [{ target: optOut.target, channel: optOut.channel, ...entry, way: 'api' as const, by: job.byName }],
      );
      if (decisions.length > 0) {
        const document = await decideConsents(workspace, person, decisions, ports);
        // The sweeper of the delivery role publishes what the log does not take now.
        await publishConsents(document ? [document] : [], ports).catch((error: unknown) =>
          ports.watch.trouble('publish consents', error),
        );
      }
      if (changes.some(({ entry }) => entry === 'stays')) {
        throw new CarillonError('conflict', 'a newer choice of the person stays');
      }
    },
    (item) => nameOf(item, job, ports.ids),
  );

export const allowConsents = jobKind({
  action: 'allow_consents',
  permission: 'operate',
  audit: 'consent.set',
  parameters: z.object({}),
  start: {
    path: '/v1/workspaces/:workspace/consents/allow-many',
    operationId: 'allowConsents',
    tags: ['Consents'],
    summary:
      'Allows again, in their place, what many people opted out of, as a job: all opt-outs of those named, or all that match. Its `undo` opts them out again',
    body: z.strictObject({
      people: chosenPeople.optional().describe('Only these people. People without opt-outs are ignored'),
      ...chosenByFilter(optOutFilter),
    }),
    problems: ['wrong_state', 'conflict'],
  },
  async choose({ request, workspace, body }, ports) {
    const choice = readChoice(body, 'people');
    const { people, more } =
      'named' in choice
        ? { people: await findOptOuts(workspace, choice.named, ports), more: false }
        : await matchOptOuts(request, workspace, choice.filter, ports);
    const expected = 'named' in choice ? people.length : choice.expected;
    requireExpected({ ids: people, more }, expected, 'allowed again');
    return { workspace, items: people.map((person) => JSON.stringify(person)), parameters: {} };
  },
  do: (run, ports) =>
    changeEach(run, ports, (current, { at, allowedAt }) => {
      if (!current.optedOut) return null;
      return current.at === at ? { optedOut: false, at: allowedAt } : 'stays';
    }),
  undo: {
    audit: 'consent.set',
    do: (run, ports) =>
      changeEach(run, ports, (current, { allowedAt }) => {
        if (current.optedOut) return null;
        return current.at === allowedAt ? { optedOut: true, at: Math.max(run.job.createdAt, allowedAt + 1) } : 'stays';
      }),
  },
  nameOf,
});
