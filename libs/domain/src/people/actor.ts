/** Kinds of authors. `cli`: the owner token of the data folder. `system`: Carillon itself. */
export const ACTOR_KINDS = ['person', 'token', 'cli', 'system'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/**
 * Author of an action, as records keep it forever. The id stays when the person or token is removed. Names and
 * addresses are looked up for display.
 */
export type Actor = {
  readonly kind: ActorKind;
  /** `per_…` for a person, `tok_…` for a service token, `owner` for the owner token, `carillon` for the system. */
  readonly id: string;
};

/** The holder of the owner token in the data folder. */
export const OWNER_ACTOR: Actor = { kind: 'cli', id: 'owner' };
/** Carillon itself. */
export const SYSTEM_ACTOR: Actor = { kind: 'system', id: 'carillon' };
