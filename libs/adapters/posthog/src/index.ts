export { createPostHog } from './posthog.ts';
