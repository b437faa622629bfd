import type { FaultPhrases } from './fault-text.ts';

type Code =
  | 'environment_of_itself'
  | 'environment_of_test'
  | 'environment_only'
  | 'environment_live_removed'
  | 'environment_has_tests'
  | 'workspace_not_empty'
  | 'retention_too_short'
  | 'deployment_required';

/** Sentences about workspaces, test environments and the deployment. */
export const WORKSPACE_PHRASES: FaultPhrases<Code> = {
  environment_of_itself: () => ({
    message: 'a workspace cannot be the test environment of itself',
    expected: 'another workspace',
    fix: 'name the live workspace',
    formFix: 'Choose the workspace that it is for.',
  }),
  environment_of_test: ({ workspace }, { quote }) => ({
    message: `${quote(workspace)} is a test environment itself`,
    expected: 'a live workspace',
    fix: 'name the live workspace',
    formFix: 'Choose the live workspace.',
  }),
  environment_only: ({ setting }, { label }) => ({
    message: `only a test environment has ${setting}`,
    expected: 'environment: test beside it',
    fix: `remove ${setting}, or add environment: test`,
    formMessage: `${label}: only a test environment has this setting`,
    formFix: 'Remove it, or make this a test environment.',
  }),
  environment_live_removed: ({ workspace, environment }, { quote }) => ({
    message: `${quote(workspace)} would be removed, and ${quote(environment)} is a test environment of it`,
    expected: 'a workspace that stays',
    fix: `keep ${workspace}, or remove ${environment} too`,
    formFix: 'Keep it, or remove the test environment too.',
  }),
  environment_has_tests: ({ environment }, { file, quote, workspace }) => ({
    message: `${quote(environment)} is a test environment of this workspace, so this stays a live one`,
    expected: 'live',
    fix: `remove environment here, or of: ${workspace} in ${file('workspace', environment)}`,
    formFix: 'Keep it live, or remove the test environment first.',
  }),
  workspace_not_empty: ({ contents }) => ({
    message: `the workspace still has ${contents}`,
    expected: 'an empty workspace',
    fix: 'remove its contents first',
    formFix: 'Remove these first.',
  }),
  retention_too_short: ({ topic, kept, notification, rule, setting, bound }, { quote }) => {
    const owner = rule === '' ? quote(notification) : `the rule ${quote(`${notification}.${rule}`)}`;
    return {
      message: `${topic} are kept ${kept}, which is shorter than ${setting} of ${owner} (${bound})`,
      expected: `${topic} kept at least ${bound}`,
      fix: `set retention.${topic} in carillon.yaml to ${bound} or longer, or shorten ${setting}`,
      formFix: `Shorten it, or ask the operator of Carillon to keep ${topic} at least ${bound}.`,
    };
  },
  deployment_required: () => ({
    message: 'the settings of the deployment cannot be removed',
    expected: 'settings, if only empty ones',
    fix: 'send a body with the settings to keep, or {}',
    formFix: '',
  }),
};
