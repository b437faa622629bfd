// Written by `node schemas/generate.ts` from libs/shapes; do not edit.
export const INTEGRATION_ROLES = {
  "lookup": "partner",
  "mixpanel": "cohort_webhook",
  "amplitude": "cohort_webhook",
  "segment": "cohort_webhook",
  "generic": "cohort_webhook",
  "posthog": "cohort_api",
  "postgres": "database",
  "kafka": "topics"
} as const;
