import type { Resource, ResourceBodies, ResourceKind, ResourceRef } from '@carillon/domain/configuration';

/** Kinds of resources that a person writes. API keys are not: a digest in a file would be a secret out of place. */
export type WrittenKind = Exclude<ResourceKind, 'api_key'>;

/** A resource in its desired form, from a file or the API. */
export type WantedResource<Kind extends WrittenKind = WrittenKind> = {
  readonly ref: ResourceRef<Kind>;
  readonly body: ResourceBodies[Kind];
};

/** Whether a person wrote what is there. */
export const isWritten = (resource: Resource): resource is Resource<WrittenKind> => resource.ref.kind !== 'api_key';

export const isKind = <Kind extends WrittenKind>(item: WantedResource, kind: Kind): item is WantedResource<Kind> =>
  item.ref.kind === kind;
