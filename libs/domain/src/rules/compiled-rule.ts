import type { PlacedRule } from '../configuration/streams.ts';
import type { Expression } from './expression.ts';

/** A published rule with its expressions checked and compiled; made once per rule version. */
export type CompiledRule = {
  readonly placed: PlacedRule;
  readonly when: Expression;
  readonly forEach: Expression | null;
  readonly to: {
    readonly email: Expression | null;
    readonly phone: Expression | null;
    readonly token: Expression | null;
  };
  readonly uniqueId: Expression | 'event_id' | 'trigger_id' | null;
  readonly person: Expression | null;
  readonly variables: readonly (readonly [name: string, value: Expression])[];
  readonly where: Expression | null;
  /** Whom the rule asks about whom; null where the event names the recipients. */
  readonly lookup: { readonly integration: string; readonly userIds: Expression } | null;
};
