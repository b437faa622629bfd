import { allowedManyBody, restoredBody } from '@carillon/contracts';
import { changedWords, nameOfTarget, type Consents, type ConsentWord, type Decision } from '@carillon/domain';
import { CarillonError } from '@carillon/kernel';
import { decideForMany, type PersonDecisions } from '@carillon/stages';
import { z } from 'zod';
import { principalOf } from '../access/principal.ts';
import { audited, keyedTarget } from '../audit/facts.ts';
import { auditEach } from '../audit/hook.ts';
import { openConsents, sealConsents, type SaidBack } from '../taken-back.ts';
import { inWorkspace, type ApiServer } from './app.ts';
import { consentWrites, MOST_PEOPLE, personText, type ConsentRoutePorts } from './consents.ts';

/** Room for the words of as many people as are chosen at once, sealed. */
const UNDO_LIMIT = 16 * 1024 * 1024;
const NOT_OURS = 'undo: it was not answered by allow-many of this workspace; send the text as it came';

/**
 * What people who were chosen opted out of: taken back in their place, and said back by whoever undoes it, now. A word as old as before
 * would not count against the newer one.
 */
export function manyConsentsRoutes(app: ApiServer, ports: ConsentRoutePorts): void {
  const { consents, ids } = ports;
  const { nameOf, tell, digestOfWords } = consentWrites(ports);

  /** Writes down decisions for people, each audited. Answers the documents that were written. */
  async function decide(
    request: Parameters<typeof auditEach>[0],
    workspace: string,
    people: readonly PersonDecisions[],
  ): Promise<readonly Consents[]> {
    const documents: Consents[] = [];
    const target = ({ person }: PersonDecisions): string => keyedTarget(ids, workspace, person);
    await auditEach(request, people, target, async (part) => {
      documents.push(...(await decideForMany(workspace, part, ports)).documents);
    });
    await tell(documents);
    return documents;
  }

  app.post(
    '/v1/workspaces/:workspace/consents/allow-many',
    {
      config: { permission: 'operate', audit: 'consent.set' },
      schema: {
        operationId: 'allowConsents',
        tags: ['Consents'],
        summary: 'Allows again, in their place, all that these people opted out of',
        params: inWorkspace,
        body: z.strictObject({ people: z.array(personText).min(1).max(MOST_PEOPLE) }),
        response: { 200: allowedManyBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const by = principalOf(request).name;
      const before = await consents.find(workspace, [...new Set(request.body.people.map(nameOf))]);
      const people = before.flatMap(({ person, words }): PersonDecisions[] => {
        const out = words.filter(({ optedOut }) => optedOut);
        if (out.length === 0) return [];
        const said = { optedOut: false, way: 'api', by } as const;
        return [{ person, decisions: out.map(({ target, channel }) => ({ target, channel, ...said })) }];
      });
      audited(request, { before: digestOfWords(before) });
      const documents = await decide(request, workspace, people);
      audited(request, { after: digestOfWords(documents) });
      const known = new Map(before.map((document) => [document.person, document]));
      const changed = documents.flatMap((document) => changedWords(known.get(document.person) ?? null, document));
      return {
        people: new Set(changed.map(({ person }) => person)).size,
        words: changed.length,
        undo: sealConsents(
          ports,
          workspace,
          changed.map(({ person, target, channel, at }) => ({ person, target, channel, at })),
        ),
      };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/consents/restore',
    {
      config: { permission: 'operate', audit: 'consent.set' },
      bodyLimit: UNDO_LIMIT,
      schema: {
        operationId: 'restoreConsents',
        tags: ['Consents'],
        summary: 'Says back what was allowed, where that still stands; what was said since stays',
        params: inWorkspace,
        body: z.strictObject({ undo: z.string().describe('As `allow-many` answered it') }),
        response: { 200: restoredBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const words = openConsents(ports, workspace, request.body.undo);
      if (!words) throw new CarillonError('invalid_request', NOT_OURS, { pointer: '/undo' });
      const by = principalOf(request).name;
      const before = await consents.find(workspace, [...new Set(words.map(({ person }) => person))]);
      const people = before.flatMap(({ person, words: standing }): PersonDecisions[] => {
        const decisions = words
          .filter((word) => word.person === person && standing.some((one) => isThatWord(one, word)))
          .map(({ target, channel }): Decision => ({ target, channel, optedOut: true, way: 'api', by }));
        return decisions.length === 0 ? [] : [{ person, decisions }];
      });
      audited(request, { before: digestOfWords(before) });
      const documents = await decide(request, workspace, people);
      audited(request, { after: digestOfWords(documents) });
      return { restored: people.reduce((sum, { decisions }) => sum + decisions.length, 0) };
    },
  );
}

/** Whether a word is the very one that was said then: anything newer has another time. */
const isThatWord = (word: ConsentWord, then: SaidBack): boolean =>
  !word.optedOut &&
  word.at === then.at &&
  word.channel === then.channel &&
  word.target.kind === then.target.kind &&
  nameOfTarget(word.target) === nameOfTarget(then.target);
