import type { Draft } from '@carillon/domain';
import type { SecretPlaces, TemplateRenderer } from '@carillon/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDraftPlans } from '../src/drafts/draft-plans.ts';
import type { PlanningPorts } from '../src/ports.ts';
import { useDrafts } from './draft-ground.ts';

const under = useDrafts();
const current = () => under.ground.ports.configuration.current();

const mail = (name: string, revision = 'r1', text = 'Thank you.'): Draft => ({
  ref: { kind: 'template', workspace: 'shop', name },
  body: { email: { subject: 'Hello', text } },
  basedOn: null,
  revision,
  begun: 'r1',
  by: { kind: 'person', id: 'ada' },
  at: 0,
});
const DRAFTS = ['a', 'b', 'c'].map((name) => mail(name));

let checkedTemplates: number;
let place: 'hidden' | 'stored';
let ports: PlanningPorts;
beforeEach(() => {
  checkedTemplates = 0;
  place = 'stored';
  const given = under.ground.ports;
  const templates: TemplateRenderer = {
    ...given.templates,
    check: (template) => {
      checkedTemplates += 1;
      return given.templates.check(template);
    },
  };
  const secrets = { locate: async () => place } as unknown as SecretPlaces & PlanningPorts['secrets'];
  ports = { ...given, templates, secrets };
});

describe('the plans of drafts', () => {
  it('plan the drafts of a workspace once, whichever of them is read and however often', async () => {
    const plans = createDraftPlans();
    const [first = mail('a'), ...others] = DRAFTS;
    await Promise.all([
      plans.of('shop', current(), DRAFTS, ports),
      plans.of('shop', current(), [...others, first], ports),
    ]);
    const once = checkedTemplates;
    expect(once).toBeGreaterThanOrEqual(3);
    await plans.of('shop', current(), DRAFTS, ports);
    expect(checkedTemplates).toBe(once);
  });

  it('plan again when a draft was saved, and when the configuration changed', async () => {
    const plans = createDraftPlans();
    await plans.of('shop', current(), DRAFTS, ports);
    const wrong = await plans.of('shop', current(), [mail('a', 'r2', '{{#each}}'), ...DRAFTS.slice(1)], ports);
    expect(wrong.faults).toMatchObject([{ ref: { name: 'a' } }]);
    const { faults } = await plans.of('shop', current(), DRAFTS, ports);
    expect(faults).toEqual([]);
    const before = checkedTemplates;
    await under.apply('template', 'later', { email: { subject: 'Later', text: 'Hello.' } });
    await plans.of('shop', current(), DRAFTS, ports);
    expect(checkedTemplates).toBeGreaterThan(before);
  });

  it('read where secrets are at each reading, because secrets change without a draft', async () => {
    const plans = createDraftPlans();
    const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'a@example.com', user: 'u' };
    const account: Draft = {
      ...mail('a'),
      ref: { kind: 'account', workspace: 'shop', name: 'mail' },
      body: { ...smtp, password: { secret: 'PASSWORD' } },
    };
    place = 'hidden';
    const hidden = await plans.of('shop', current(), [account], ports);
    expect(hidden).toMatchObject({ faults: [], warnings: [{ path: 'password' }] });
    place = 'stored';
    expect((await plans.of('shop', current(), [account], ports)).warnings).toEqual([]);
  });

  it('forget a planning that failed', async () => {
    const plans = createDraftPlans();
    const broken = { ...ports, ledger: null, mjml: { compile: () => Promise.reject(new Error('away')) } };
    const inMjml = [{ ...mail('a'), body: { email: { subject: 'Hello', mjml: '<mjml></mjml>' } } }];
    await expect(plans.of('shop', current(), inMjml, broken as unknown as PlanningPorts)).rejects.toThrow('away');
    expect(await plans.of('shop', current(), inMjml, ports)).toMatchObject({ wanted: [{ ref: { name: 'a' } }] });
  });

  it('let others have a turn of the event loop after each draft', async () => {
    let turns = 0;
    const next = async (): Promise<void> => void (turns += 1);
    await createDraftPlans().of('shop', current(), DRAFTS, { ...ports, turns: { isOver: () => true, next } });
    // Each draft is read, checked by itself, compared, and checked with the whole.
    expect(turns).toBeGreaterThanOrEqual(4 * DRAFTS.length);
  });
});
