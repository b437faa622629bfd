import { type WantedResource, writtenBody, isWritten } from '@carillon/configuration';
import type { ActorBody, ResourceFactsBody } from '@carillon/contracts';
import type { Resource } from '@carillon/domain/configuration';
import type { Actor } from '@carillon/domain/people';
import { formatInstant } from '@carillon/kernel';
import type { PeopleStore } from '@carillon/ports';
import type { ControlPorts } from '../ports.ts';

export type ShowingPorts = Pick<ControlPorts, 'configuration'> & {
  readonly drafts: Pick<ControlPorts['drafts'], 'find'>;
  /** Store for names of authors. Without it names are null. */
  readonly people?: Pick<PeopleStore, 'find'>;
};

/** Returns a function that shows authors. Each author is looked up once. */
export function showingActors({ people }: Pick<ShowingPorts, 'people'>): (actor: Actor) => Promise<ActorBody> {
  const names = new Map<string, Promise<string | null>>();
  const nameOf = async (id: string): Promise<string | null> => (await people?.find('person', id))?.body.name ?? null;
  return async ({ kind, id }) => {
    if (kind !== 'person') return { kind, id, name: null };
    const name = names.get(id) ?? nameOf(id);
    names.set(id, name);
    return { kind, id, name: await name };
  };
}

/** The body as people wrote it, as plain JSON. */
export const shownBody = (resource: Resource): unknown => (isWritten(resource) ? writtenBody(resource) : null);

export type ShownResource = ResourceFactsBody & { readonly body: unknown };

/** A resource with who changed it last and who is changing it now. */
export async function showResource(
  resource: Resource,
  show: (actor: Actor) => Promise<ActorBody>,
  ports: ShowingPorts,
): Promise<ShownResource> {
  const { ref, number, version } = resource;
  const publication = ports.configuration.history.publication(number);
  const draft = await ports.drafts.find(ref);
  return {
    ...ref,
    body: shownBody(resource),
    number,
    version,
    updated_at: publication?.at ?? '',
    updated_by: await show(publication?.by.actor ?? { kind: 'system', id: 'carillon' }),
    origin: publication?.by.origin ?? 'cli',
    draft: draft && { by: await show(draft.by), at: formatInstant(draft.at) },
  };
}

/** Returns a resource in the form of its file, or null if it is not written by people. */
export const asWanted = (resource: Resource): WantedResource | null => (isWritten(resource) ? resource : null);
