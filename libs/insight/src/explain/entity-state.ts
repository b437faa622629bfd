import { findRuleById, ruleTitle, type PlacedRule } from '@carillon/domain/configuration';
import { decisionWords, firingSentence, memoryWords, type EntityMemory, type RuleMemory } from '@carillon/domain/rules';
import { stringifyJson, type EventId, type Instant } from '@carillon/kernel';
import type { ConfigurationView } from '@carillon/ports';
import { loadMemory, type MemoryPorts } from '@carillon/stages';

/** State of the rules about an entity, described for people. */
export type EntityState = {
  readonly rules: readonly RuleOfEntity[];
  /** The newest 16, the newest first. */
  readonly decisions: readonly DecisionOfEntity[];
  /** Events that a wait or `previous` still needs, the oldest first. */
  readonly events: readonly EventOfEntity[];
};

export type RuleOfEntity = {
  /** `notification.rule`. Null if the workspace no longer has the rule. */
  readonly rule: string | null;
  readonly ruleId: string;
  /** State of the rule as text. */
  readonly words: readonly string[];
  /** Describes when the rule fires after a match. */
  readonly sentence: string;
  readonly waitsUntil: Instant | null;
  /** Event from which the message of the wait will be made. */
  readonly eventId: EventId | null;
};

export type DecisionOfEntity = {
  readonly at: Instant;
  readonly rule: string | null;
  readonly ruleId: string;
  readonly eventId: EventId;
  /** Event of the wait that the decision ended or took over. */
  readonly waitedFor: EventId | null;
  readonly words: readonly string[];
};

export type EventOfEntity = { readonly id: EventId; readonly at: Instant; readonly body: string };

export type EntityStatePorts = MemoryPorts & { readonly configuration: Pick<ConfigurationView, 'current'> };

type NamedEntity = { readonly workspace: string; readonly stream: string; readonly key: string };

/** Describes the rule state of an entity. Everything is empty if there is no state. */
export async function readEntityState(entity: NamedEntity, ports: EntityStatePorts): Promise<EntityState> {
  const memory = await loadMemory(entity, ports);
  if (memory === null) return { rules: [], decisions: [], events: [] };
  const configuration = ports.configuration.current();
  return describeMemory(memory, (ruleId) => {
    const found = findRuleById(configuration, entity.workspace, ruleId);
    return found?.stream === entity.stream ? found : undefined;
  });
}

/** `find`: returns the rule of an id, if it still listens on the stream of the entity. */
function describeMemory(
  { rules, events, decisions }: EntityMemory,
  find: (ruleId: string) => PlacedRule | undefined,
): EntityState {
  const titleOf = (ruleId: string): string | null => {
    const placed = find(ruleId);
    return placed ? ruleTitle(placed) : null;
  };
  return {
    rules: Object.entries(rules).map(([ruleId, kept]) => ({
      rule: titleOf(ruleId),
      ruleId,
      words: memoryWords(kept),
      sentence: sentenceOf(find(ruleId), kept),
      waitsUntil: kept.wait?.deadline ?? null,
      eventId: (kept.wait && events[kept.wait.event]?.id) ?? null,
    })),
    decisions: decisions.toReversed().map((decision) => ({
      at: decision.at,
      rule: titleOf(decision.ruleId),
      ruleId: decision.ruleId,
      eventId: decision.eventId,
      waitedFor: decision.waited ?? null,
      words: decisionWords(decision),
    })),
    events: Object.values(events).map(({ id, appendedAt, body }) => ({
      id,
      at: appendedAt,
      body: stringifyJson(body),
    })),
  };
}

const WITHDRAWN = 'the rule was removed or moved to another stream; its state ends at the next event of the entity';

function sentenceOf(placed: PlacedRule | undefined, { since }: RuleMemory): string {
  if (placed?.since !== since) return WITHDRAWN;
  return firingSentence(placed.body) ?? '';
}
