import { notedBody, onboardingBody, reachedStep } from '@carillon/contracts';
import { createDirectory } from '../../access/people/directory.ts';
import { principalOf } from '../../access/principal.ts';
import { guideNumbers } from '../../guide-numbers.ts';
import type { ControlPorts } from '../../ports.ts';
import { inWorkspace, type ApiServer } from '../app.ts';

/** How long the first steps take, and where people stop: on this deployment alone, for its owners. */
export function onboardingRoutes(app: ApiServer, ports: Pick<ControlPorts, 'people' | 'ids' | 'clock'>): void {
  const directory = createDirectory(ports);

  app.post(
    '/v1/workspaces/:workspace/onboarding',
    {
      // A step is counted, and is no act that anybody has to answer for.
      config: { permission: 'read', audit: false },
      schema: {
        operationId: 'reachStep',
        tags: ['Onboarding'],
        summary:
          'Records that the caller reached a step of the guide. Each step counts once per person and never for a token',
        params: inWorkspace,
        body: reachedStep,
        response: { 200: notedBody },
      },
    },
    async (request) => {
      const walker = principalOf(request).session?.body.personId;
      // A program walks through no guide.
      if (walker === undefined) return { noted: true as const };
      await directory.changePerson(walker, (person) => {
        const { guide = [] } = person;
        if (guide.some(({ step }) => step === request.body.step)) return null;
        return { ...person, guide: [...guide, request.body] };
      });
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
        summary: 'Progress of people through the guide, with times and last steps',
        response: { 200: onboardingBody },
      },
    },
    async () => guideNumbers((await directory.all('person')).map(({ body }) => body)),
  );
}
