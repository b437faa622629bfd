import { createExpressionLanguage } from '@carillon/adapter-cel';
import { readEvent } from '@carillon/domain/events';
import { type Bindings, type Expression, RULE_STEPS, StepBudget } from '@carillon/domain/rules';
import type { JsonObject } from '@carillon/kernel';
import { Environment } from '@marcbachmann/cel-js';
import { createCorpus, type OrderEvent } from '../corpus.ts';
import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import { spin } from '../harness/load.ts';

/** `byHand`: what a programmer would write who trusts the event. `peer`: the same for `@marcbachmann/cel-js`, where it needs other words. */
type Shape = {
  readonly name: string;
  readonly source: string;
  readonly peer?: string;
  readonly byHand: (event: OrderEvent) => boolean;
};

const SHAPES: readonly Shape[] = [
  {
    name: 'a field and a threshold',
    source: 'event.status == "paid" && event.total > 250.0',
    byHand: (event) => event.status === 'paid' && event.total > 250,
  },
  {
    name: 'one of a list, and any item',
    source: 'event.customer.country in ["DE", "FR", "US"] && event.items.exists(item, item.qty > 4.0)',
    byHand: (event) => ['DE', 'FR', 'US'].includes(event.customer.country) && event.items.some((item) => item.qty > 4),
  },
  {
    name: 'the end of a text, or equality',
    source: 'event.customer.email.endsWith("7@example.com") || event.currency == "USD"',
    byHand: (event) => event.customer.email.endsWith('7@example.com') || event.currency === 'USD',
  },
  {
    name: 'arithmetic and a size',
    source: 'event.total * 1.19 > 400.0 && size(event.items) >= 4',
    byHand: (event) => event.total * 1.19 > 400 && event.items.length >= 4,
  },
  {
    name: 'a branch that is not there',
    source: 'has(event.refund) && event.refund.amount > 10.0',
    byHand: (event) => {
      const { refund } = event as OrderEvent & { readonly refund?: { readonly amount: number } };
      return refund !== undefined && refund.amount > 10;
    },
  },
];

const EVENTS = 1_000;

/** The corpus as the engine has it in hand: read from the bytes of the log. */
function readCorpus(): readonly JsonObject[] {
  const corpus = createCorpus();
  return Array.from({ length: EVENTS }, () => {
    const read = readEvent(corpus.nextBytes());
    if (!read.ok) throw new Error(read.error.detail);
    return read.value.body;
  });
}

function compiled(source: string): Expression {
  const result = createExpressionLanguage().compile(source, 'when');
  if (!result.ok) throw new Error(`${source}: ${JSON.stringify(result.error)}`);
  return result.value;
}

/** A side that judges all events over and over. Each keeps its last answers, which have to be those of the closures. */
function judging(
  name: string,
  events: readonly JsonObject[],
  shape: Shape,
  prepare: () => (at: number) => boolean,
): Side {
  return {
    name,
    syncs: 'nothing',
    async open() {
      const judge = prepare();
      const answers: boolean[] = Array.from({ length: EVENTS }, () => false);
      return {
        round: async ({ seconds }) =>
          spin(seconds, EVENTS, () => {
            for (let at = 0; at < EVENTS; at += 1) answers[at] = judge(at);
          }),
        async verify() {
          const wrong = answers.filter((answer, at) => answer !== shape.byHand(events[at] as unknown as OrderEvent));
          return wrong.length === 0 ? [] : [`${wrong.length} of ${EVENTS} answers differ from those of the closure`];
        },
      };
    },
  };
}

function shapeCase(shape: Shape, events: readonly JsonObject[]): BenchCase {
  return {
    title: shape.name,
    counted: 'evaluations',
    sides: [
      judging('carillon', events, shape, () => {
        const expression = compiled(shape.source);
        const bindings = events.map((event, at): Bindings => ({ event, event_id: `evt_${at}`, time: 0 }));
        // As the engine has it: one budget, filled anew for each rule.
        const budget = new StepBudget();
        return (at) => {
          budget.left = RULE_STEPS;
          const answer = expression.evaluate(bindings[at] as Bindings, budget);
          return answer.ok && answer.value === true;
        };
      }),
      judging('closure', events, shape, () => (at) => shape.byHand(events[at] as unknown as OrderEvent)),
      judging('cel-js', events, shape, () => {
        const program = new Environment().registerVariable('event', 'map').parse(shape.peer ?? shape.source);
        const bindings = events.map((event) => ({ event }));
        return (at) => program(bindings[at]) === true;
      }),
    ],
    comparisons: [
      { side: 'carillon', to: 'closure', measure: 'rate', wanted: 'at least', floor: 0.6, goal: 0.75 },
      { side: 'carillon', to: 'cel-js', measure: 'rate', wanted: 'at least' },
    ],
  };
}

const corpus = readCorpus();

export const rules: Bench = {
  name: 'rules',
  title: 'Rules of five shapes',
  what: `One rule's condition is evaluated over ${EVENTS.toLocaleString('en')} events of the corpus that are already read: by the expressions
that the product compiles, by closures that a programmer wrote by hand and that check nothing, and by
\`@marcbachmann/cel-js\`, an interpreter of the same language. All three have to come to the same answers.`,
  cases: SHAPES.map((shape) => shapeCase(shape, corpus)),
};
