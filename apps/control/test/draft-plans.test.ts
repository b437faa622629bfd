import type { Draft } from '@carillon/domain/configuration';
import type { DraftStore, TemplateRenderer } from '@carillon/ports';
import { createMemoryStores } from '@carillon/testing/memory';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDraftPlans } from '../src/drafts/draft-plans.ts';
import { draftsOf } from '../src/drafts/plan-drafts.ts';
import type { ControlPorts } from '../src/ports.ts';
import { useDrafts } from './draft-fixture.ts';
import { PAID } from './resource-fixture.ts';

const under = useDrafts();
const current = () => under.fixture.ports.configuration.current();

const mail = (name: string, revision = `r-${name}`, text = 'Thank you.'): Draft => ({
  ref: { kind: 'template', workspace: 'shop', name },
  body: { email: { subject: 'Hello', text } },
  basedOn: null,
  revision,
  begun: 'r1',
  by: { kind: 'person', id: 'ada' },
  at: 0,
});
const NEEDS_D = { ...PAID, channels: { email: { template: 'd' } } };
const NAMES = ['a', 'b', 'c'];

let checkedTemplates: number;
let place: 'hidden' | 'stored';
let ports: ControlPorts;
beforeEach(async () => {
  checkedTemplates = 0;
  place = 'stored';
  const given = under.fixture.ports;
  const templates: TemplateRenderer = {
    ...given.templates,
    check: (template) => {
      checkedTemplates += 1;
      return given.templates.check(template);
    },
  };
  const secrets = { locate: async () => place } as unknown as ControlPorts['secrets'];
  const drafts = createMemoryStores().connect().drafts;
  ports = { ...given, templates, secrets, drafts };
  for (const name of NAMES) await drafts.replace(mail(name), null);
});

describe('the plans of drafts', () => {
  it('plan all drafts of a workspace once, however many of them are read', async () => {
    const plans = createDraftPlans();
    await Promise.all(NAMES.map((name) => plans.findingsOf(mail(name), current(), ports)));
    const once = checkedTemplates;
    expect(once).toBeGreaterThanOrEqual(NAMES.length);
    await plans.findingsOf(mail('a'), current(), ports);
    expect(checkedTemplates).toBe(once);
  });

  it('show each draft only its own faults', async () => {
    const plans = createDraftPlans();
    const wrong = mail('a', 'r-a2', '{{#each}}');
    await ports.drafts.replace(wrong, 'r-a');
    expect((await plans.findingsOf(wrong, current(), ports)).faults).toMatchObject([{ ref: { name: 'a' } }]);
    expect((await plans.findingsOf(mail('b'), current(), ports)).faults).toEqual([]);
  });

  it('plan again when a draft was saved, and when the configuration changed', async () => {
    const plans = createDraftPlans();
    await plans.findingsOf(mail('a'), current(), ports);
    const wrong = mail('a', 'r-a2', '{{#each}}');
    await ports.drafts.replace(wrong, 'r-a');
    expect((await plans.findingsOf(wrong, current(), ports)).faults).toHaveLength(1);
    await ports.drafts.replace(mail('a', 'r-a3'), 'r-a2');
    expect((await plans.findingsOf(mail('a', 'r-a3'), current(), ports)).faults).toEqual([]);
    const before = checkedTemplates;
    await under.apply('template', 'later', { email: { subject: 'Later', text: 'Hello.' } });
    await plans.findingsOf(mail('a', 'r-a3'), current(), ports);
    expect(checkedTemplates).toBeGreaterThan(before);
  });

  it('plan a saving that the caller holds though a later one is stored', async () => {
    const plans = createDraftPlans();
    const held = mail('a', 'r-a2', '{{#each}}');
    await ports.drafts.replace(mail('a', 'r-a3'), 'r-a');
    expect((await plans.findingsOf(held, current(), ports)).faults).toHaveLength(1);
    expect((await plans.findingsOf(mail('a', 'r-a3'), current(), ports)).faults).toEqual([]);
  });

  it('forget drafts that were discarded while others were read', async () => {
    const plans = createDraftPlans();
    const wrong: Draft = { ...mail('n'), ref: { kind: 'notification', workspace: 'shop', name: 'n' }, body: NEEDS_D };
    await ports.drafts.replace(wrong, null);
    const racing: DraftStore = {
      ...ports.drafts,
      // The template is saved after the revisions are read and before the drafts are.
      revisions: async (workspace) => {
        const before = await ports.drafts.revisions(workspace);
        if (before.length === 4) await ports.drafts.replace(mail('d'), null);
        return before;
      },
    };
    expect((await plans.findingsOf(wrong, current(), { ...ports, drafts: racing })).faults).toEqual([]);
    await ports.drafts.remove(mail('d').ref, 'r-d');
    expect((await plans.findingsOf(wrong, current(), ports)).faults).toHaveLength(1);
  });

  it('read where secrets are at each reading, because secrets change without a draft', async () => {
    const plans = createDraftPlans();
    const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'a@example.com', user: 'u' };
    const account: Draft = {
      ...mail('mail'),
      ref: { kind: 'account', workspace: 'shop', name: 'mail' },
      body: { ...smtp, password: { secret: 'PASSWORD' } },
    };
    await ports.drafts.replace(account, null);
    place = 'hidden';
    const hidden = await plans.findingsOf(account, current(), ports);
    expect(hidden).toMatchObject({ faults: [], warnings: [{ path: 'password' }] });
    place = 'stored';
    expect((await plans.findingsOf(account, current(), ports)).warnings).toEqual([]);
  });

  it('plan again after a planning that failed', async () => {
    const plans = createDraftPlans();
    const inMjml = { ...mail('m'), body: { email: { subject: 'Hello', mjml: '<mjml></mjml>' } } };
    await ports.drafts.replace(inMjml, null);
    const broken = { ...ports, mjml: { compile: () => Promise.reject(new Error('away')) } } as unknown as ControlPorts;
    await expect(plans.findingsOf(inMjml, current(), broken)).rejects.toThrow('away');
    expect(await plans.findingsOf(mail('a'), current(), ports)).toMatchObject({ faults: [] });
  });

  it('let others have a turn of the event loop after each draft', async () => {
    let turns = 0;
    const yieldSlice = async (): Promise<void> => void (turns += 1);
    await createDraftPlans().findingsOf(mail('a'), current(), {
      ...ports,
      slice: { isExpired: () => true, yield: yieldSlice },
    });
    // Each draft is read, checked by itself, compared, and checked with the whole.
    expect(turns).toBeGreaterThanOrEqual(4 * NAMES.length);
  });
});

describe('all drafts of a workspace', () => {
  it('are read in pages, with a turn of the event loop for others between two', async () => {
    for (let at = 0; at < 57; at += 1) await ports.drafts.replace(mail(`more-${at}`), null);
    let turns = 0;
    const yieldSlice = async (): Promise<void> => void (turns += 1);
    expect(
      await draftsOf('shop', { drafts: ports.drafts, slice: { isExpired: () => true, yield: yieldSlice } }),
    ).toHaveLength(60);
    expect(turns).toBe(2);
  });
});
