import { BASE_GONE, type Draft, type ResourceRef } from '@carillon/domain/configuration';
import type { Actor } from '@carillon/domain/people';
import { CarillonError, formatInstant, type JsonObject } from '@carillon/kernel';
import { SLUG, SLUG_WORDS } from '@carillon/configuration';
import type { ControlPorts } from '../ports.ts';
import { draftEtag } from './shown-drafts.ts';

/** Open drafts per workspace. Reading one draft plans all of them together. */
export const MAX_DRAFTS = 1000;
/** Bytes of all drafts of a workspace, as JSON. Planning them costs processor time in proportion. */
export const MAX_DRAFT_BYTES = 4 * 1024 * 1024;

/** Stands behind a revision whose saving got a new base by a publication: it is the same saving, and another document. */
const REBASED = '~';
const withoutRebasing = (revision: string): string => revision.replace(/~+$/, '');

/** The revision of the same saving with another base. */
export const rebasedRevision = ({ revision }: Pick<Draft, 'revision'>): string => `${revision}${REBASED}`;

/** Returns true if the stored draft is the one that the author saw. Null means no draft. */
export const isSaving = (there: Pick<Draft, 'revision'> | null, seen: string | null): boolean =>
  there === null || seen === null ? there === seen : withoutRebasing(there.revision) === withoutRebasing(seen);

export type DraftPorts = Pick<ControlPorts, 'drafts' | 'configuration' | 'ids' | 'clock'>;

/** Precondition of a save: a revision of the draft, or its absence. */
export type DraftPrecondition = { readonly revision: string | null };

const ETAG = /^"d([^"\s]{1,100})"$/;
const HOW = 'send If-Match with the ETag of the draft, or If-None-Match: * to begin one';

/**
 * Throws `precondition_required` without a precondition, so that a save cannot overwrite the edit of another person.
 */
export function draftPrecondition(headers: Readonly<Record<string, unknown>>): DraftPrecondition {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (typeof match === 'string' && noneMatch === undefined) {
    const revision = ETAG.exec(match.trim())?.[1];
    if (revision !== undefined) return { revision };
    throw new CarillonError('invalid_request', `If-Match takes the ETag of the draft, such as "d4QZ"; ${HOW}`);
  }
  if (typeof noneMatch === 'string' && match === undefined) {
    if (noneMatch.trim() === '*') return { revision: null };
    throw new CarillonError('invalid_request', `If-None-Match takes * here; ${HOW}`);
  }
  if (match === undefined && noneMatch === undefined) throw new CarillonError('precondition_required', HOW);
  throw new CarillonError('invalid_request', `If-Match and If-None-Match exclude each other here; ${HOW}`);
}

const titleOf = ({ kind, name, workspace }: ResourceRef): string =>
  `${kind.replace('_', ' ')} ${name === '' ? workspace : name}`;

/** Returns the refusal of a lost race for a draft, with the current draft, its author and time. */
export function draftMoved(ref: ResourceRef, now: Draft | null): CarillonError {
  const detail = now
    ? `the draft of ${titleOf(ref)} was saved by ${now.by.kind} ${now.by.id} at ${formatInstant(now.at)}; read it again, and save with If-Match: ${draftEtag(now)}`
    : `there is no draft of ${titleOf(ref)} any more: it was published or discarded; read the resource, and begin one with If-None-Match: *`;
  const newer = { number: now?.basedOn ?? null, at: now ? formatInstant(now.at) : null, by: now && { ...now.by } };
  return new CarillonError('precondition_failed', detail, { newer });
}

export type DraftWish = {
  readonly ref: ResourceRef;
  readonly body: JsonObject | null;
  /** Left out: what the draft is based on already. */
  readonly basedOn?: number | null | undefined;
  readonly promotedFrom?: string;
};

/**
 * Saves a draft, even with mistakes. Throws `precondition_failed` if the draft was saved, published or discarded
 * meanwhile.
 */
export async function saveDraft(
  wish: DraftWish,
  { revision }: DraftPrecondition,
  by: Actor,
  ports: DraftPorts,
): Promise<Draft> {
  const { ref } = wish;
  if (ref.kind !== 'workspace' && !SLUG.test(ref.name)) {
    throw new CarillonError('invalid_request', `the name ${JSON.stringify(ref.name)} cannot be used: ${SLUG_WORDS}`);
  }
  // A publisher may write on the very saving that this one is based on: then it is read once more, with its new base.
  for (let before = await ports.drafts.find(ref); ; before = await ports.drafts.find(ref)) {
    if (!isSaving(before, revision)) throw draftMoved(ref, before);
    const next = await nextDraft(wish, before, by, ports);
    if ((await ports.drafts.replace(next, before?.revision ?? null)) === 'done') return next;
  }
}

async function nextDraft(wish: DraftWish, before: Draft | null, by: Actor, ports: DraftPorts): Promise<Draft> {
  const { ref, body } = wish;
  const basedOn = await baseOf(wish, before, ports);
  await demandRoom(
    ref.workspace,
    { drafts: before ? 0 : 1, bytes: draftBytes(body) - draftBytes(before?.body ?? null) },
    ports,
  );
  const promotedFrom = wish.promotedFrom ?? before?.promotedFrom;
  const token = ports.ids.token();
  return {
    ref,
    body,
    basedOn,
    revision: token,
    begun: before?.begun ?? token,
    ...(promotedFrom !== undefined && { promotedFrom }),
    by,
    at: ports.clock.now(),
  };
}

/** Bytes of a draft's body as JSON. */
export const draftBytes = (body: JsonObject | null): number => Buffer.byteLength(JSON.stringify(body));

/** Throws `wrong_state` if the workspace has no room for this many more drafts and bytes. Shrinking is always allowed. */
export async function demandRoom(
  workspace: string,
  added: { readonly drafts: number; readonly bytes: number },
  { drafts }: Pick<DraftPorts, 'drafts'>,
): Promise<void> {
  const held = await drafts.held(workspace);
  if (added.drafts > 0 && held.drafts + added.drafts > MAX_DRAFTS) {
    const detail = `the workspace has ${held.drafts} drafts, and ${MAX_DRAFTS} are the most: publish or discard some`;
    throw new CarillonError('wrong_state', detail);
  }
  if (added.bytes > 0 && held.bytes + added.bytes > MAX_DRAFT_BYTES) {
    const sizes = `${mebibytes(added.bytes)} more would be added to ${mebibytes(held.bytes)}`;
    const limit = `the drafts of a workspace hold at most ${mebibytes(MAX_DRAFT_BYTES)} together`;
    throw new CarillonError('wrong_state', `${limit}, and ${sizes}: publish or discard some drafts, or change fewer`);
  }
}

const mebibytes = (bytes: number): string => `${Math.round((bytes / 1024 / 1024) * 100) / 100} MiB`;

/**
 * The base must be an existing number of the resource; a later number could not be distinguished from a future
 * publication.
 */
async function baseOf({ ref, basedOn }: DraftWish, before: Draft | null, { configuration }: DraftPorts) {
  if (basedOn === undefined) {
    if (before) return before.basedOn;
    const fix = 'send based_on with the number of the resource that you began from, or null where there is none';
    throw new CarillonError('invalid_request', `based_on: required when a draft is saved for the first time; ${fix}`);
  }
  if (basedOn === null || basedOn === before?.basedOn) return basedOn;
  await configuration.refresh();
  const known = configuration.history.statesOf(ref).some(({ publication }) => publication.number === basedOn);
  if (known && basedOn !== BASE_GONE) return basedOn;
  throw new CarillonError('invalid_request', `based_on: ${titleOf(ref)} never had number ${basedOn}; read it again`);
}

/** Takes a draft away. Throws `precondition_failed` where it was saved meanwhile. */
export async function discardDraft(ref: ResourceRef, revision: string, { drafts }: DraftPorts): Promise<void> {
  for (let now = await drafts.find(ref); ; now = await drafts.find(ref)) {
    if (!now || !isSaving(now, revision)) throw draftMoved(ref, now);
    if ((await drafts.remove(ref, now.revision)) === 'done') return;
  }
}
