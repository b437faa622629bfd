import { RESOURCE_SHAPES } from '@carillon/shapes';
import { z } from 'zod';
import { isKind, type WantedResource, type WrittenKind } from '../resource.ts';
import { writtenTemplate } from './template-body.ts';
import { schemaForEditors } from '../files/json-schemas.ts';

/** The JSON Schema of the body of a kind, with the words of the reference: what a file of this kind may hold. */
export function bodyJsonSchema(kind: WrittenKind): Record<string, unknown> {
  const { $schema: _draft, ...schema } = z.toJSONSchema(RESOURCE_SHAPES[kind], schemaForEditors) as Record<
    string,
    unknown
  >;
  return schema;
}

/** The body of a resource as its author wrote it, ids and paths filled in: without what was compiled from something else. */
export const writtenBody = (resource: WantedResource): WantedResource['body'] =>
  isKind(resource, 'template') ? writtenTemplate(resource.body) : resource.body;
