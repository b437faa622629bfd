import { notedBody, onboardingBody, reachedStep } from '@carillon/contracts';
import { audited } from '../audit/facts.ts';
import { listAudit, type AuditRow } from '../audit/list.ts';
import { foldOnboarding, reachedText } from '../audit/onboarding.ts';
import type { ControlPorts } from '../ports.ts';
import { inWorkspace, type ApiServer } from './app.ts';

const AT_ONCE = 500;
/** Pages of the audit that one question looks through. */
const MOST_PAGES = 10;

/** How long the first steps take, and where people stop: on this deployment alone, for its owners. */
export function onboardingRoutes(app: ApiServer, ports: Pick<ControlPorts, 'log' | 'codecs'>): void {
  app.post(
    '/v1/workspaces/:workspace/onboarding',
    {
      config: { permission: 'read', audit: 'guide.reach' },
      schema: {
        operationId: 'reachStep',
        tags: ['Onboarding'],
        summary: 'Notes that whoever asks has reached a step of the guide; each counts once, the first time',
        params: inWorkspace,
        body: reachedStep,
        response: { 200: notedBody },
      },
    },
    async (request) => {
      audited(request, { target: reachedText(request.body) });
      return { noted: true as const };
    },
  );

  app.get(
    '/v1/onboarding',
    {
      config: { permission: 'people' },
      schema: {
        operationId: 'readOnboarding',
        tags: ['Onboarding'],
        summary: 'How far people came from their first link, how long it took them, and where they stopped',
        response: { 200: onboardingBody },
      },
    },
    async () => {
      const rows: AuditRow[] = [];
      // Whoever may ask owns the deployment.
      const filter = { action: 'guide.reach', sees: () => true };
      let before: number | undefined;
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const { items, next } = await listAudit(ports, filter, AT_ONCE, before);
        rows.push(...items);
        if (next === null) return { ...foldOnboarding(rows), complete: true };
        before = next;
      }
      return { ...foldOnboarding(rows), complete: false };
    },
  );
}
