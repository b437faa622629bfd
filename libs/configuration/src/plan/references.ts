import { resourceKey, type Configuration, type ResourceRef } from '@carillon/domain/configuration';
import { isKind, isWritten, type WantedResource } from '../resource.ts';
import { needsOf, needsOfTemplate, streamNeeds } from './check-plan.ts';

/**
 * Returns the resources that a resource refers to by name, each once. API keys are left out, because no file creates
 * them.
 */
export function referencesOf(resource: WantedResource, { resources }: Configuration): readonly ResourceRef[] {
  const { workspace } = resource.ref;
  const needs = isKind(resource, 'notification')
    ? needsOf(resource.body)
    : isKind(resource, 'stream')
      ? streamNeeds(resource.body)
      : isKind(resource, 'template')
        ? needsOfTemplate(resource, [...resources.values()].filter(isWritten))
        : [];
  const refs = needs.map(([, kind, name]): ResourceRef => ({ kind, workspace, name }));
  return [...new Map(refs.map((ref) => [resourceKey(ref), ref])).values()];
}
