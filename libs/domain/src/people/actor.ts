/** Kinds of authors. `cli`: the owner token of the data folder. `system`: Carillon itself, on nobody's order. */
export const ACTOR_KINDS = ['person', 'token', 'cli', 'system'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/**
 * Who did something, as records keep it for ever. The id of a person or a token stays when the person or the token is
 * removed; names and addresses are looked up when they are shown.
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
