import { ruleIdOf, type Configuration } from '@carillon/domain/configuration';
import type { Position } from '@carillon/domain/events';
import { triggerIdOf } from '@carillon/domain/lookups';
import { nextDueOf, passDeadlines } from '@carillon/domain/rules';
import type { Coroutine, DeriveId, Instant } from '@carillon/kernel';
import type { BatchOutputs } from './batch-outputs.ts';
import { outputsOfPassed } from './evaluate-event.ts';
import type { EntityStates } from './entity-states.ts';
import type { RuleBook } from './rule-book.ts';

/** A record that moves the watermark, and the configuration before it. */
export type Passing = {
  readonly position: Position;
  readonly watermark: Instant;
  readonly configuration: Configuration;
  readonly configNumber: number;
};

export type PassPorts = {
  readonly states: EntityStates;
  readonly outputs: BatchOutputs;
  readonly book: RuleBook;
  readonly derive: DeriveId;
};

/** Ends the waits of an entity that are due at a record. Returns false if none is due any more. */
export function* passDue(
  id: string,
  { position, watermark, configuration, configNumber }: Passing,
  { states, outputs, book, derive }: PassPorts,
): Coroutine<boolean> {
  const memory = states.memoryOf(id);
  if (!memory || (nextDueOf(memory) ?? watermark) >= watermark) return false;
  const { memory: after, passed } = yield* passDeadlines(
    memory,
    { position, watermark },
    book.rulesOf(configuration, memory.entity.stream),
    (placed, eventId) => triggerIdOf(derive, ruleIdOf(placed), eventId),
  );
  states.putMemory(id, after);
  const tally = outputs.ranges.before(position.offset, configNumber);
  const making = { configuration, book, derive, runId: null };
  for (const wait of passed) {
    outputs.take(tally, wait.event, yield* outputsOfPassed(wait, making));
    yield;
  }
  return true;
}
