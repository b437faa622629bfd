import {
  type Bindings,
  type Evaluated,
  type Expression,
  type ExpressionPlace,
  StepBudget,
} from '@carillon/domain/rules';
import { parseJson } from '@carillon/kernel';
import type { Json } from '@carillon/kernel';
import { createExpressionLanguage } from '../src/index.ts';

const generated = createExpressionLanguage({ generate: true });
const closures = createExpressionLanguage({ generate: false });

/** As the parser of events makes them: objects without a prototype, big integers exact. */
export function eventOf(text: string): Json {
  const bare = (value: Json): Json => {
    if (Array.isArray(value)) return value.map((item) => bare(item as Json));
    if (typeof value !== 'object' || value === null) return value;
    const object = Object.create(null) as Record<string, Json>;
    for (const [name, item] of Object.entries(value)) {
      Object.defineProperty(object, name, { value: bare(item), enumerable: true, configurable: true, writable: true });
    }
    return object;
  };
  return bare(parseJson(text));
}

export const bindingsOf = (event: string | Json, more: Partial<Bindings> = {}): Bindings => ({
  event: typeof event === 'string' ? eventOf(event) : event,
  event_id: 'e-1',
  time: Date.UTC(2026, 0, 2, 23, 4, 5, 678),
  ...more,
});

export function compiled(source: string, place: ExpressionPlace = 'recipient', generate = true): Expression {
  const result = (generate ? generated : closures).compile(source, place);
  if (!result.ok) throw new Error(`${source}: ${JSON.stringify(result.error)}`);
  return result.value;
}

/** The answer of generated code; an answer of the closures that differs fails the test. */
export function evaluate(source: string, event: string | Json = '{}', more: Partial<Bindings> = {}): Evaluated {
  const bindings = bindingsOf(event, more);
  const answer = compiled(source).evaluate(bindings, new StepBudget());
  const other = compiled(source, 'recipient', false).evaluate(bindings, new StepBudget());
  if (JSON.stringify(plain(answer)) !== JSON.stringify(plain(other))) {
    throw new Error(`generated ${JSON.stringify(plain(answer))}, closures ${JSON.stringify(plain(other))}`);
  }
  return answer;
}

const plain = (answer: Evaluated): unknown => (answer.ok ? shown(answer.value) : answer.error);
const shown = (value: Json): unknown =>
  JSON.stringify(value, (_name, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item));

export const value = (source: string, event: string | Json = '{}', more: Partial<Bindings> = {}): Json | undefined => {
  const answer = evaluate(source, event, more);
  return answer.ok ? answer.value : undefined;
};

export const errorOf = (source: string, event: string | Json = '{}', more: Partial<Bindings> = {}): string => {
  const answer = evaluate(source, event, more);
  return answer.ok ? `no error but ${JSON.stringify(shown(answer.value))}` : answer.error;
};
