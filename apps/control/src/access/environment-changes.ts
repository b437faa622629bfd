import {
  ENVIRONMENT_KEYS,
  findResource,
  type Configuration,
  type ResourceChange,
  type WorkspaceBody,
} from '@carillon/domain/configuration';
import { lacking } from './guard.ts';
import type { Principal } from './principal.ts';

/**
 * Requires the permission `people` for three changes: whether a test environment reaches real people, which workspace
 * is one, and the removal of one.
 */
export function demandPeopleForEnvironments(
  changes: readonly ResourceChange[],
  current: Configuration,
  principal: Principal,
): void {
  for (const { ref, body } of changes) {
    if (ref.kind !== 'workspace') continue;
    if (body === null && !principal.may('people', ref.workspace)) throw lacking(['people']);
    const before: WorkspaceBody = findResource(current, 'workspace', ref.workspace, '')?.body ?? {};
    const after: WorkspaceBody = (body as WorkspaceBody | null) ?? {};
    if (ENVIRONMENT_KEYS.every((key) => before[key] === after[key])) continue;
    if (!principal.may('people', ref.workspace)) throw lacking(['people']);
  }
}
