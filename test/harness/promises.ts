/** A promise of the product. `section` names its place in the architecture page, section 3. */
export type ProductPromise = {
  readonly section: string;
  readonly says: string;
  /** Proofs and tests that hold the promise beside its planted bugs. */
  readonly proofs: readonly string[];
};

const SIMULATION = 'test/simulation/simulation.proof.test.ts';
const CRASH = 'test/chaos/embedded/crash.proof.test.ts';
const CLUSTER_CRASH = 'test/chaos/cluster/crash.proof.test.ts';

/** Every promise that chaos, simulation and fuzz hold. A finding names how one of them broke. */
export const PROMISES = {
  accepted_is_durable: {
    section: '1',
    says: '202 Accepted means that the event is durable on the log',
    proofs: [SIMULATION, CRASH, CLUSTER_CRASH, 'test/chaos/embedded/durability.proof.test.ts'],
  },
  repeats_change_nothing: {
    section: '2',
    says: 'work is repeated between stages, and repeated work changes nothing',
    proofs: [SIMULATION, CRASH, CLUSTER_CRASH],
  },
  outputs_before_position: {
    section: '3',
    says: 'outputs are appended before state, and state before the position',
    proofs: [SIMULATION, 'test/simulation/every-order/consumer.proof.test.ts'],
  },
  one_message_per_slot: {
    section: '4',
    says: 'a provider accepts at most one message per slot, and an unknown result is in doubt',
    proofs: [SIMULATION, CRASH, 'test/chaos/cluster/failpoints/take-over.proof.test.ts'],
  },
  nothing_disappears: {
    section: '5',
    says: 'every intent ends or is shown to a person, and every event has an explanation',
    proofs: [SIMULATION, CRASH, 'test/chaos/embedded/edges.proof.test.ts'],
  },
  same_log_same_intents: {
    section: '6',
    says: 'the same log and configuration give the same intents',
    proofs: [SIMULATION, 'test/simulation/every-order/publishing.proof.test.ts'],
  },
  no_order_between_messages: {
    section: '7',
    says: 'no order is promised between messages',
    proofs: [SIMULATION],
  },
  tenants: {
    section: 'Tenants',
    says: 'a workspace never learns what another one has',
    proofs: ['test/integration/product/crossing.proof.test.ts', 'test/integration/product/fairness.proof.test.ts'],
  },
  revocation: {
    section: 'Revocation',
    says: 'a revoked key stops working within 2 s',
    proofs: ['test/integration/product/keys.proof.test.ts', 'test/integration/cluster/outage.proof.test.ts'],
  },
  opt_outs: {
    section: 'Opt-outs',
    says: 'no attempt is made whose check began after a stored opt-out',
    proofs: [SIMULATION, 'test/chaos/cluster/opt-outs.proof.test.ts'],
  },
  too_late: {
    section: 'Too late',
    says: 'nothing is sent after not_after',
    proofs: [SIMULATION, 'test/chaos/embedded/failpoints/failpoints.proof.test.ts'],
  },
  cadence: {
    section: 'outside of 6',
    says: 'limits, quiet hours and digests hold in every order of steps',
    proofs: [
      SIMULATION,
      'test/chaos/limits-on-stores.proof.test.ts',
      'test/chaos/embedded/failpoints/cadence.proof.test.ts',
    ],
  },
  people_and_audit: {
    section: 'audit',
    says: 'people may do what their role allows, and the audit shows every change',
    proofs: ['test/chaos/embedded/kills-of-changes.proof.test.ts'],
  },
  replay: {
    section: 'replay',
    says: 'a comparison comes to the same each time, and sending its missing messages notifies nobody twice',
    proofs: [
      'test/chaos/embedded/comparison-crash.proof.test.ts',
      'test/chaos/embedded/comparison-crash-2.proof.test.ts',
      'test/chaos/embedded/sending.proof.test.ts',
    ],
  },
  erasure: {
    section: 'erasure',
    says: 'nothing of an erased person is left, and what others have is whole',
    proofs: ['test/integration/product/erasure.product.test.ts'],
  },
  rules_with_state: {
    section: 'rules with state',
    says: 'a deadline notifies once, a count is what a list of the events counts, in every order of steps',
    proofs: [
      'libs/stages/test/evaluate/stateful/oracle.proof.test.ts',
      'libs/stages/test/evaluate/stateful/model.proof.test.ts',
      'test/chaos/embedded/waits-crash.proof.test.ts',
      'test/chaos/cluster/waits-crash.proof.test.ts',
      'test/integration/rules/overdue.proof.test.ts',
    ],
  },
  hostile_input: {
    section: 'tenant input',
    says: 'hostile input gets a documented refusal, shows no secret and holds no thread',
    proofs: ['test/fuzz/fuzz.proof.test.ts', 'test/fuzz/oracle.proof.test.ts'],
  },
} as const satisfies Readonly<Record<string, ProductPromise>>;

export type PromiseName = keyof typeof PROMISES;

/** How a promise breaks, and the promise of it. */
export const FINDING_KINDS = {
  /** An acknowledged event or change of which nothing tells any more. */
  lost: 'accepted_is_durable',
  /** Two messages for one slot, or two intents of one cause. */
  twice: 'one_message_per_slot',
  /** A call to a partner whose answer was there. */
  asked: 'repeats_change_nothing',
  /** Work that does not go on by itself. */
  stuck: 'nothing_disappears',
  /** Work that ended later than promised. */
  late: 'nothing_disappears',
  /** A delivery in doubt whose call was neither cut off nor unanswered. */
  doubt: 'one_message_per_slot',
  /** The product says something else than the provider, the partner or the caller. */
  untrue: 'nothing_disappears',
  /** The record of the work has a hole, or an entry without a cause. */
  gap: 'nothing_disappears',
  /** A record that the log and its configuration do not lead to. */
  otherwise: 'same_log_same_intents',
  /** A message to a person who had opted out. */
  unwanted: 'opt_outs',
  /** A limit or a digest that did not hold. */
  cadence: 'cadence',
  /** A response, a log line or a parser that hostile input led astray. */
  hostile: 'hostile_input',
} as const satisfies Readonly<Record<string, PromiseName>>;

/** A broken promise. */
export type Finding = { readonly kind: keyof typeof FINDING_KINDS; readonly what: string };

/** Makes findings of one kind. */
export const findingsOf = (kind: Finding['kind'], whats: readonly string[]): readonly Finding[] =>
  whats.map((what) => ({ kind, what }));

/** A finding in one line: `lost: evt_… is not on the log`. */
export const describeFinding = ({ kind, what }: Finding): string => `${kind}: ${what}`;
