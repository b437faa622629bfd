import { streamTable, type Configuration, type RuleBody, type SourceEvent } from '@carillon/domain';
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
import { events } from '../corpus.ts';
import type { Bench, Side } from '../harness/bench.ts';
import { spin } from '../harness/load.ts';

const KINDS = 20;
const RULES_OF_KIND = 50;
const EVENTS = 500;

/** High, so that few rules fire: what is measured is finding out that most do not. */
const thresholdOf = (rule: number): number => 490 + rule / 5;

const ruleOf = (kind: number, rule: number, streamName: string): RuleBody => ({
  stream: streamName,
  when: `event.kind == "kind-${kind}" && event.total > ${thresholdOf(rule).toFixed(1)} && event.status == "paid"`,
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
});

/** A thousand rules in twenty notifications, each notification about another kind of event. */
function configured(streamOf: (kind: number) => string): Configuration {
  const kinds = Array.from({ length: KINDS }, (_, kind) => kind);
  return configurationOf([
    template('order-paid', PAID_MAIL),
    ...[...new Set(kinds.map(streamOf))].map((name) => stream(name, ORDERS)),
    ...kinds.map((kind) => {
      const places = Array.from({ length: RULES_OF_KIND }, (_, rule) => rule);
      const rules = Object.fromEntries(places.map((rule) => [`rule-${rule}`, ruleOf(kind, rule, streamOf(kind))]));
      return notification(`about-${kind}`, { ...ORDER_PAID, rules });
    }),
  ]);
}

/** What has to fire, by hand: intents of all events together. */
const expected = (all: readonly SourceEvent[]): number =>
  all.reduce((sum, { body }) => {
    if (body['status'] !== 'paid') return sum;
    const fires = Array.from({ length: RULES_OF_KIND }, (_, rule) => Number(body['total']) > thresholdOf(rule));
    return sum + fires.filter(Boolean).length;
  }, 0);

function judging(name: string, streamOf: (kind: number) => string): Side {
  return {
    name,
    syncs: 'nothing',
    async open() {
      const configuration = configured(streamOf);
      const book = givenRuleBook();
      const all = events(EVENTS).map((event, at): SourceEvent => {
        const kind = at % KINDS;
        const body = { ...event, kind: `kind-${kind}` } as unknown as Record<string, Json>;
        return { ...givenEvent(body, `evt_${at}`, at), stream: `shop/${streamOf(kind)}` };
      });
      const judged = streamTable(configuration).rules.get(all[0]?.stream ?? '')?.length ?? 0;
      if (judged * KINDS !== KINDS * RULES_OF_KIND && judged !== KINDS * RULES_OF_KIND)
        throw new Error(`${judged} rules are on a stream`);
      let intents = 0;
      let at = 0;
      const judgeNext = (): number => {
        const event = all[at % EVENTS] as SourceEvent;
        at += 1;
        const judgements = judgeEvent(event, configuration, book, givenIds.derive);
        return judgements.reduce((sum, one) => sum + one.intents.length, 0);
      };
      return {
        round: async ({ seconds }) => spin(seconds, 1, () => void (intents += judgeNext())),
        async verify() {
          // The round ends anywhere in the list: what is left of it is judged too.
          while (at % EVENTS !== 0) intents += judgeNext();
          const due = expected(all) * (at / EVENTS);
          return intents === due ? [] : [`${intents} intents were made, ${due} are right`];
        },
      };
    },
  };
}

export const manyRules: Bench = {
  name: 'many-rules',
  title: 'A thousand rules, of which one in twenty concerns the event',
  what: `Events are judged by the engine, intents included, under 1,000 published rules. On one side each kind of event comes on
a stream of its own with its 50 rules, which is how rules are found; on the other all kinds and all rules share one stream, so that all
1,000 are evaluated in turn. Both make the same intents.`,
  cases: [
    {
      title: '1,000 rules',
      counted: 'events',
      sides: [judging('a stream for each kind', (kind) => `kind-${kind}`), judging('all in turn', () => 'orders')],
      comparisons: [
        {
          side: 'a stream for each kind',
          to: 'all in turn',
          measure: 'rate',
          wanted: 'at least',
          floor: 10,
          goal: 20,
        },
      ],
    },
  ],
};
