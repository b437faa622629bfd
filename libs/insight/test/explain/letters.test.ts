import type { LogId } from '@carillon/kernel';
import { createDirectWire, createMemoryReadModels } from '@carillon/testing/memory';
import { givenIds } from '@carillon/testing/given';
import { beforeEach, describe, expect, it } from 'vitest';
import { letterAt, letterSteps, type LetterPorts } from '../../src/explain/letters.ts';
import { inOrder, step } from '../../src/explain/steps.ts';

const readModels = createMemoryReadModels().connect(createDirectWire());
const ports: LetterPorts = { readModels, ids: givenIds, log: { logId: 'log_1' as LogId } };
const place = { partition: 2, offset: 7 };
const id = letterAt('resolve', 'carillon.lookups', place, ports);
const row = {
  id,
  workspace: 'shop',
  stage: 'resolve',
  topic: 'carillon.lookups',
  partition: place.partition,
  offset: place.offset,
  reason: 'rule_gone',
  at: 10,
  ownPartition: 0,
  ownOffset: 0,
  redrivenAt: null,
  redrivenBy: null,
  dismissedAt: null,
  dismissedBy: null,
  receipt: null,
};

describe('the steps of a dead letter', () => {
  beforeEach(() => readModels.put({ deadLetters: [row] }));
  it('are empty if the record is no dead letter', async () => {
    expect(
      await letterSteps(letterAt('resolve', 'carillon.lookups', { partition: 0, offset: 0 }, ports), ports),
    ).toEqual([]);
  });
  it('have the reason and the command that redrives it', async () => {
    expect(await letterSteps(id, ports)).toMatchObject([
      {
        at: 10,
        step: 'dead_letter',
        id,
        text: `now a dead letter: rule_gone; process it again with: npx carillon dead-letters redrive ${id}`,
      },
    ]);
  });
  it('keep the redrive with author and time', async () => {
    await readModels.markRedriven(id, 20, 'ann');
    expect((await letterSteps(id, ports)).map(({ at, text }) => [at, text])).toEqual([
      [10, 'now a dead letter: rule_gone'],
      [20, 'redriven by ann'],
    ]);
  });
});

it('are sorted by time, and a step without time follows its predecessor', () => {
  const steps = [step('event', 5, 'a'), step('rule', null, 'b'), step('delivery', 9, 'c'), step('lookup', 7, 'd')];
  expect(inOrder(steps).map(({ text }) => text)).toEqual(['a', 'b', 'd', 'c']);
});
