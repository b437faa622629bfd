import type { Delivery } from '@carillon/domain/deliveries';
import type { LedgerSend } from '@carillon/testing';
import { countLookups } from '../harness/evidence.ts';
import type { Finding } from '../harness/promises.ts';
import type { Clients } from './clients.ts';
import { coverageOf, showsTooLittle } from './coverage.ts';
import type { Cut } from './cuts.ts';
import type { Network } from './network.ts';
import type { OutsideServers } from './outside-servers.ts';
import { readBooks } from './providers.ts';
import type { Rest } from './settle.ts';
import { judge, type Course } from './verdict.ts';

/** A crash run whose product has stopped. */
export type EndedRun = Rest & {
  readonly servers: OutsideServers;
  readonly clients: Clients;
  /** When kills, holds and outages may have cut off what the roles had under way. */
  readonly cuts: {
    readonly delivery: readonly Cut[];
    readonly engine: readonly Cut[];
    readonly outages?: readonly Cut[];
  };
  /** Stands between all parts. Left out if nothing does. */
  readonly network?: Network | undefined;
};

export type JudgedRun = {
  readonly findings: readonly Finding[];
  /** Null if the run shows enough, or if the machine was too slow to say. */
  readonly showsTooLittle: string | null;
  readonly figures: Readonly<Record<string, number>>;
  readonly sends: readonly LedgerSend[];
};

/** Compares what the product left behind with the answers of the clients and the books of the servers. */
export async function judgeRun({ servers, clients, cuts, network, ...rest }: EndedRun): Promise<JudgedRun> {
  const { smtp, partner, providers } = servers;
  const { posters, reporter } = clients;
  const { evidence, settledAfter } = rest;
  const { deliveries, evaluations } = evidence;
  const { mail, sends } = await readBooks(smtp, providers, evidence);
  const { acknowledged, changes, firstMembers } = posters.posts;
  const mailsReset = network?.resets('delivery-smtp') ?? [];
  const course: Course = {
    acknowledged,
    changes,
    firstMembers,
    mail,
    atKills: { sends, kills: cuts.delivery },
    answersLost: mailsReset,
    partner: {
      calls: partner.calls,
      cuts: [...cuts.engine, ...(network?.cuts() ?? [])],
      outages: cuts.outages ?? [],
    },
    settledAfter,
    leftOpen: rest.leftOpen,
    reports: reporter,
  };
  const coverage = coverageOf(course, evidence);
  const starts = new Set(evaluations.map(({ partition, from }) => `${partition}/${from}`));
  const countWhere = (isCounted: (delivery: Delivery) => boolean): number => deliveries.filter(isCounted).length;
  return {
    findings: judge(course, evidence),
    showsTooLittle: showsTooLittle(coverage),
    sends,
    figures: {
      ...coverage,
      ...countLookups(evidence),
      settledAfter,
      acknowledged: posters.taken(),
      requestsCut: posters.cut(),
      changes: changes.length,
      leavers: changes.filter(({ user }) => user.startsWith('club-')).length,
      deliveries: deliveries.length,
      duplicates: deliveries.reduce((sum, { duplicates }) => sum + duplicates, 0),
      attempts: deliveries.reduce((sum, { attempts }) => sum + attempts.length, 0),
      failed: countWhere(({ state }) => state === 'FAILED'),
      optedOut: countWhere(({ reason }) => reason === 'opted_out'),
      doubtsByKill: countWhere(({ state, reason }) => state === 'IN_DOUBT' && reason === 'lease_ran_out'),
      doubtsByDrop: countWhere(({ state, reason }) => state === 'IN_DOUBT' && reason === 'answer_unknown'),
      evaluationsRepeated: evaluations.length - starts.size,
      partnerAnswers: partner.calls.filter(({ answered }) => answered).length,
      messages: mail.length,
      texted: providers.twilio.messages.length,
      pushed: providers.fcm.messages.length,
      reported: reporter.answered.size,
      dropsPlanted: mail.filter(({ dropped }) => dropped).length,
      edges: network?.edges().length ?? 0,
      mailsReset: mailsReset.reduce((sum, { most }) => sum + most, 0),
    },
  };
}
