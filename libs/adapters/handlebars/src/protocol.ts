import type { Rendered } from '@carillon/ports';
import type { JsonObject, Locality } from '@carillon/kernel';

import type { Plan } from './engine.ts';
import type { TemplateSource } from './template-source.ts';

/** What the main thread and its workers say to each other. */
export type Order = {
  readonly job: number;
  readonly key: string;
  readonly sheet: TemplateSource;
  readonly context: JsonObject;
  readonly locality: Locality;
  /** Whether the main thread asks for the plan of the template too. */
  readonly wantsPlan: boolean;
};
export type Answer = { readonly job: number; readonly rendered: Rendered; readonly plan: Plan | undefined };
export type WorkerData = { readonly progress: SharedArrayBuffer };
