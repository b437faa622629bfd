import type { Rule } from './rule.ts';
import { isTest, pathOf } from './workspace.ts';

const NAMES: ReadonlySet<unknown> = new Set(['email', 'sms', 'push']);
/** Rooms that serve every channel alike; the one table of channels is in the domain. */
const ROOMS = /^libs\/(?:domain|ports|stages|insight)\/src\//;
const TABLE = 'libs/domain/src/channels/';

/** What a channel is stands in one table: elsewhere a channel is a value, and never a word or a property by its name. */
export const channelName: Rule = {
  meta: { type: 'problem' },
  create(context) {
    const path = pathOf(context.filename);
    if (!ROOMS.test(path) || path.startsWith(TABLE) || isTest(path)) return {};
    const message = `a channel by its name: take what differs between channels from ${TABLE}channel.ts`;
    return {
      Literal(node) {
        if (NAMES.has(node.value)) context.report({ node, message });
      },
      TemplateElement(node) {
        if (NAMES.has(node.value.cooked)) context.report({ node, message });
      },
      MemberExpression(node) {
        if (
          !node.computed &&
          node.property.type === 'Identifier' &&
          NAMES.has(node.property.name) &&
          isConfigured(node)
        ) {
          context.report({ node, message });
        }
      },
    };
  },
};

/** `body.channels.email`, `template.body.email`, `accounts.email`: what configuration says of one channel. */
function isConfigured(node: { readonly object: { readonly type: string } }): boolean {
  const { object } = node as { object: { type: string; name?: string; property?: { name?: string } } };
  const owner = object.type === 'MemberExpression' ? object.property?.name : object.name;
  return owner === 'channels' || owner === 'body' || owner === 'accounts';
}
