import { planChanges, type PlanOptions } from '@carillon/configuration';
import {
  foldConfiguration,
  EMPTY_CONFIGURATION,
  type ResourceChange,
  type TemplateBody,
} from '@carillon/domain/configuration';
import { describe, expect, it } from 'vitest';
import { smallLanguage, smallTemplates } from './support/small-language.ts';

const MANY = 50;
const options = {
  prune: false,
  newId: () => 'id',
  language: smallLanguage,
  templates: smallTemplates,
} as const satisfies Partial<PlanOptions>;
const mail = (name: string) => ({ kind: 'template', workspace: 'shop', name }) as const;

/** A shop with many templates, and how often somebody read the text of one. */
function shop() {
  let reads = 0;
  const body: TemplateBody = {
    get email() {
      reads += 1;
      return { subject: 'Hello', text: 'Hello {{> footer}}', layout: 'basic' };
    },
  };
  const changes: ResourceChange[] = [
    { ref: { kind: 'workspace', workspace: 'shop', name: '' }, based_on: null, body: {} },
    { ref: { kind: 'partial', workspace: 'shop', name: 'footer' }, based_on: null, body: { text: 'Yours' } },
    { ref: { kind: 'layout', workspace: 'shop', name: 'basic' }, based_on: null, body: { text: '{{{body}}}' } },
    ...Array.from({ length: MANY }, (_, at) => ({ ref: mail(`mail-${at}`), based_on: null, body })),
  ];
  const { configuration } = foldConfiguration(EMPTY_CONFIGURATION, { changes }, 1);
  return {
    configuration,
    readsOf: (work: () => void): number => {
      const before = reads;
      work();
      return reads - before;
    },
  };
}

describe('The plan of one change among many templates', () => {
  it('reads the text of no other template, unless a resource is removed that one of them may need', () => {
    const { configuration, readsOf } = shop();
    const wanted = { ref: mail('new'), body: { email: { subject: 'New', text: 'Hello' } } };
    const reads = readsOf(() => {
      const { record, faults } = planChanges(configuration, [wanted], options);
      expect({ faults, record: record.length }).toEqual({ faults: [], record: 1 });
    });
    expect(reads).toBe(0);
  });

  it('names each template that needs a removed partial', () => {
    const { configuration } = shop();
    const { faults } = planChanges(configuration, [], { ...options, remove: new Set(['partial:shop/footer']) });
    expect(faults).toHaveLength(MANY);
    expect(faults[0]?.message).toBe('the partial footer would be removed and is needed here');
  });
});
