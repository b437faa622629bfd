import { COMMAND_KEY } from '../../frame/command-key.ts';
import { keyLine, screen, textOf } from '../../screen.ts';
import { STREAM_KEYS } from '../streams/screens.ts';

export const ruleScreens = [
  screen({
    path: '/workspaces/$w/notifications/$n/rules/$r',
    docs: '/docs/portal-rules',
    search: (words) => textOf(words, 'view', 'event'),
    load: async () => (await import('./rule.tsx')).RuleEditor,
    keys: [
      {
        title: 'Rule and template',
        lines: [
          keyLine('Run the test bench, or save and draw the preview at once', COMMAND_KEY, 'Enter'),
          keyLine('Save the draft', COMMAND_KEY, 'S'),
          keyLine('Review and publish', COMMAND_KEY, 'Shift', 'P'),
        ],
      },
      STREAM_KEYS,
    ],
  }),
] as const;
