import { notedBody, onboardingBody, reachedStep } from '@carillon/contracts';
import type { Access } from '../access/access.ts';
import { createAsker } from '../access/people/asker.ts';
import { createDirectory } from '../access/people/directory.ts';
import { guideNumbers } from '../guide-numbers.ts';
import type { ControlPorts } from '../ports.ts';
import { inWorkspace, type ApiServer } from './app.ts';

/** How long the first steps take, and where people stop: on this deployment alone, for its owners. */
export function onboardingRoutes(
  app: ApiServer,
  access: Access,
  ports: Pick<ControlPorts, 'people' | 'ids' | 'clock'>,
): void {
  const directory = createDirectory(ports);
  const { asker } = createAsker(access, ports.people);

  app.post(
    '/v1/workspaces/:workspace/onboarding',
    {
      // A step is counted, and is no act that anybody has to answer for.
      config: { permission: 'read', audit: false, problems: ['forbidden'] },
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
      const { id } = await asker(request);
      await directory.changePerson(id, (person) => {
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
        summary: 'How far people came from their first link, how long it took them, and where they stopped',
        response: { 200: onboardingBody },
      },
    },
    async () => guideNumbers((await directory.all('person')).map(({ body }) => body)),
  );
}
