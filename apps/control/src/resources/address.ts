import type { WrittenKind } from '@carillon/configuration';
import { listResources, type ResourceRef } from '@carillon/domain/configuration';
import type { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { insteadOf } from '../names.ts';
import { inWorkspace, notFound, withName } from '../routes/app.ts';
import type { KindOfResource } from './kinds.ts';
import type { WritingPorts } from './publish-resources.ts';
import type { ShowingPorts } from './shown.ts';

export type ResourcePorts = WritingPorts & ShowingPorts;

/** Path parameters of a resource. */
export type Params = { readonly workspace?: string; readonly name?: string };

/** The resource of an address. */
export const refOf = ({ kind }: KindOfResource, { workspace = '', name = '' }: Params): ResourceRef<WrittenKind> => ({
  kind,
  workspace,
  name,
});

/** Returns the schema of the path parameters of a kind's resource. */
export const paramsOf = ({ kind }: KindOfResource): z.ZodType<Params> =>
  kind === 'deployment' ? z.object({}) : kind === 'workspace' ? inWorkspace : withName;

/** Returns the path parameters as part of a route's schema. Empty for the deployment, which has none. */
export const withParams = (kind: KindOfResource) => (kind.kind === 'deployment' ? {} : { params: paramsOf(kind) });

/** Returns the error for a missing resource, whether it was removed or never existed. */
export function missing(kind: KindOfResource, ref: ResourceRef, ports: ResourcePorts): CarillonError {
  const known = listResources(ports.configuration.current(), kind.kind, ref.workspace).map((one) => one.ref.name);
  return ref.name === ''
    ? notFound(kind.title, 'it does not exist yet')
    : notFound(`${kind.title} ${ref.name} in workspace ${ref.workspace}`, insteadOf(ref.name, known));
}
