import { createExpressionLanguage } from '@carillon/adapter-cel';
import {
  streamTable,
  type Bindings,
  type Configuration,
  type Expression,
  type RuleBody,
  type SourceEvent,
  StepBudget,
} from '@carillon/domain';
import type { Json } from '@carillon/kernel';
import { judgeEvent } from '@carillon/stages';
import {
  configurationOf,
  givenEvent,
  givenIds,
  givenRuleBook,
  notification,
  ORDER_PAID,
  ORDERS,
  PAID_MAIL,
  stream,
  template,
} from '@carillon/testing/given';
import { events, type OrderEvent } from '../corpus.ts';
import type { Bench, Side } from '../harness/bench.ts';
import { spin } from '../harness/load.ts';
import { secondsOf } from '../warm-up.ts';

const KINDS = 20;
const RULES_OF_KIND = 50;
const RULES = KINDS * RULES_OF_KIND;
const EVENTS = 500;

/** High, so that few rules fire: what is measured is finding out that most do not. */
const thresholdOf = (rule: number): number => 490 + rule / 5;

type KindEvent = OrderEvent & { readonly kind: string };
type BenchRule = {
  readonly kind: number;
  readonly when: string;
  /** The same, written by hand. */
  readonly fires: (event: KindEvent) => boolean;
};

const RULES_BY_KIND: readonly (readonly BenchRule[])[] = Array.from({ length: KINDS }, (_, kind) =>
  Array.from({ length: RULES_OF_KIND }, (_rule, rule): BenchRule => {
    const name = `kind-${kind}`;
    const least = thresholdOf(rule);
    return {
      kind,
      when: `event.kind == "${name}" && event.total > ${least.toFixed(1)} && event.status == "paid"`,
      fires: (event) => event.kind === name && event.total > least && event.status === 'paid',
    };
  }),
);
const ALL_RULES = RULES_BY_KIND.flat();

const bodyOf = ({ when }: BenchRule, streamName: string): RuleBody => ({
  stream: streamName,
  when,
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
});

/** A thousand rules in twenty notifications, each about another kind of event, which comes on the stream that is named for it. */
function configured(streamOf: (kind: number) => string): Configuration {
  return configurationOf([
    template('order-paid', PAID_MAIL),
    ...[...new Set(RULES_BY_KIND.map((_, kind) => streamOf(kind)))].map((name) => stream(name, ORDERS)),
    ...RULES_BY_KIND.map((rules, kind) =>
      notification(`about-${kind}`, {
        ...ORDER_PAID,
        rules: Object.fromEntries(rules.map((rule, at) => [`rule-${at}`, bodyOf(rule, streamOf(kind))])),
      }),
    ),
  ]);
}

const kindEvents: readonly KindEvent[] = events(EVENTS).map((event, at) => ({ ...event, kind: `kind-${at % KINDS}` }));

/** How many rules fire for all events together: by thresholds alone, and not by what any side evaluates. */
const EXPECTED = kindEvents.reduce((sum, { status, total }) => {
  if (status !== 'paid') return sum;
  return sum + Array.from({ length: RULES_OF_KIND }, (_, rule) => total > thresholdOf(rule)).filter(Boolean).length;
}, 0);

/** A side that judges event `at` and answers how many rules fired for it. */
const judging = (name: string, prepare: () => (at: number) => number): Side => ({
  name,
  syncs: 'nothing',
  async open() {
    const judge = prepare();
    let fired = 0;
    let next = 0;
    const judgeNext = (): void => {
      fired += judge(next % EVENTS);
      next += 1;
    };
    return {
      round: async (round) => spin(secondsOf(round), 1, judgeNext),
      async verify() {
        // The round ends anywhere in the list: what is left of it is judged too.
        while (next % EVENTS !== 0) judgeNext();
        const due = EXPECTED * (next / EVENTS);
        return fired === due ? [] : [`${fired} rules fired, ${due} are right`];
      },
    };
  },
});

/** The engine's own way: the rules of the event's stream, and intents of those that fire. */
const engine = (name: string, streamOf: (kind: number) => string, rulesOfStream: number): Side =>
  judging(name, () => {
    const configuration = configured(streamOf);
    const book = givenRuleBook();
    const all = kindEvents.map((event, at): SourceEvent => {
      const body = event as unknown as Record<string, Json>;
      return { ...givenEvent(body, `evt_${at}`, at), stream: `shop/${streamOf(at % KINDS)}` };
    });
    const ofStream = streamTable(configuration).rules.get(all[0]?.stream ?? '')?.length;
    if (ofStream !== rulesOfStream) throw new Error(`${ofStream} rules are on a stream`);
    return (at) =>
      judgeEvent(all[at] as SourceEvent, configuration, book, givenIds.derive).reduce(
        (sum, { intents }) => sum + intents.length,
        0,
      );
  });
const carillon = engine('carillon', (kind) => `kind-${kind}`, RULES_OF_KIND);
/** What it would cost if it did not know which rules an event concerns. */
const engineInTurn = engine('carillon, all in turn', () => 'everything', RULES);

/** The product's compiled conditions in one loop, and nothing made of those that hold. */
const inTurn = judging('all in turn, compiled', () => {
  const language = createExpressionLanguage();
  const conditions = ALL_RULES.map(({ when }): Expression => {
    const result = language.compile(when, 'when');
    if (!result.ok) throw new Error(`${when}: ${JSON.stringify(result.error)}`);
    return result.value;
  });
  const bindings = kindEvents.map((event, at): Bindings => {
    const body = event as unknown as Record<string, Json>;
    return { event: body, event_id: `evt_${at}`, time: 0 };
  });
  return (at) => {
    let fired = 0;
    for (const condition of conditions) {
      const answer = condition.evaluate(bindings[at] as Bindings, new StepBudget());
      if (answer.ok && answer.value === true) fired += 1;
    }
    return fired;
  };
});

/** What a programmer would write, who trusts each event to be what it seems. */
const byHand = judging('all in turn, closures', () => (at) => {
  const event = kindEvents[at] as KindEvent;
  let fired = 0;
  for (const { fires } of ALL_RULES) if (fires(event)) fired += 1;
  return fired;
});

export const manyRules: Bench = {
  name: 'many-rules',
  title: 'A thousand rules, of which one in twenty concerns the event',
  what: `Events of ${KINDS} kinds are judged under ${RULES.toLocaleString('en')} rules, ${RULES_OF_KIND} for each kind. For Carillon each kind comes on a stream of its own, which is how
the engine finds the rules of an event; it evaluates these ${RULES_OF_KIND}, and makes a verdict of each and an intent of each that fires. The floor is for the same engine with all
rules on one stream, which has to evaluate them all in turn: what finding rules by their stream is worth. Beside it stand two plain loops that evaluate
all ${RULES.toLocaleString('en')} conditions for every event, only count those that hold, and make nothing of them: one over the conditions as the product compiles them, with all its bounds,
and one over closures that a programmer wrote by hand and that check nothing. They say what the engine adds to bare conditions, and have no floor. Most conditions of a loop end at the
kind of the event; those that the engine evaluates do not. On all sides as many rules have to fire as the thresholds say.`,
  cases: [
    {
      title: '1,000 rules',
      counted: 'events',
      sides: [carillon, engineInTurn, inTurn, byHand],
      comparisons: [
        {
          side: 'carillon',
          to: 'carillon, all in turn',
          measure: 'rate',
          wanted: 'at least',
          floor: 10,
          goal: 20,
        },
        { side: 'carillon', to: 'all in turn, compiled', measure: 'rate', wanted: 'at least' },
        { side: 'carillon', to: 'all in turn, closures', measure: 'rate', wanted: 'at least' },
      ],
    },
  ],
};
