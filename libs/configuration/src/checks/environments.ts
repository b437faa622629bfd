import { isTest, resourceKey, type WorkspaceBody } from '@carillon/domain/configuration';
import { isKind, type WantedResource } from '../resource.ts';
import type { Report } from './finding.ts';
import type { Check } from './check-context.ts';

/** Checks that a test environment names the workspace that it tests, and that this workspace is no test environment. */
export const checkEnvironment: Check = (resource, around, report) => {
  if (!isKind(resource, 'workspace')) return;
  const { ref, body } = resource;
  if (!isTest(body)) return checkLive(body, report);
  const { of } = body;
  if (of === undefined) return;
  if (of === ref.workspace) {
    report.fault(['of'], { code: 'environment_of_itself', facts: {} });
    return;
  }
  const live = around.workspace(of);
  if (!live) {
    // Only the name is known of a file that cannot be read.
    if (around.names('workspace', of).length > 0) return;
    // Names no other workspace, because the author may not be allowed to see it.
    report.fault(['of'], { code: 'workspace_unknown', facts: { workspace: of } });
    return;
  }
  if (isTest(live)) report.fault(['of'], { code: 'environment_of_test', facts: { workspace: of } });
};

function checkLive(body: WorkspaceBody, report: Report): void {
  for (const key of ['of', 'allow_real_accounts'] as const) {
    if (body[key] === undefined) continue;
    report.fault([key], { code: 'environment_only', facts: { setting: key } }, 'key');
  }
}

/** A test environment that stays, of a workspace that goes. `going`: by `resourceKey`. */
export function checkLiveGone(
  { ref, body: { of } }: WantedResource<'workspace'>,
  going: ReadonlySet<string>,
  report: Report,
): void {
  if (of === undefined || !going.has(resourceKey({ kind: 'workspace', workspace: of, name: '' }))) return;
  report.fault(['of'], {
    code: 'environment_live_removed',
    facts: { workspace: of, environment: ref.workspace },
  });
}

/** Checks test environments outside the folder whose tested workspace becomes a test environment. */
export function checkStayingEnvironments(
  { ref, body }: WantedResource<'workspace'>,
  staying: readonly WantedResource<'workspace'>[],
  report: Report,
): void {
  if (!isTest(body)) return;
  for (const other of staying) {
    if (other.body.of !== ref.workspace) continue;
    report.fault(['environment'], {
      code: 'environment_has_tests',
      facts: { environment: other.ref.workspace },
    });
  }
}
