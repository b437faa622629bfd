import type { EmailTemplate } from '@carillon/domain';
import type { Rendered } from '@carillon/ports';
import type { JsonObject } from '@carillon/kernel';

import type { Locality } from './formatting.ts';

/** What the main thread and its workers say to each other. */
export type Order = {
  readonly job: number;
  readonly key: string;
  readonly template: EmailTemplate;
  readonly context: JsonObject;
};
export type Answer = { readonly job: number; readonly rendered: Rendered };
export type WorkerData = { readonly progress: SharedArrayBuffer; readonly locality: Locality };

/** Whether two templates render the same: a key may be used again with other content, in a preview above all. */
export const sameTemplate = (a: EmailTemplate, b: EmailTemplate): boolean =>
  a.subject === b.subject &&
  a.from === b.from &&
  a.html === b.html &&
  a.text === b.text &&
  (a.strict === true) === (b.strict === true);
