export { createPostHog } from './posthog.ts';
export { createCohortReaders } from './readers.ts';
