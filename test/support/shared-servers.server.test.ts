import { expect, it } from 'vitest';
import { takeTurn } from './shared-servers.ts';

it('gives a turn to one test at a time', async () => {
  const order: string[] = [];
  const giveBack = await takeTurn('example');
  const second = takeTurn('example').then((giveBackSecond) => {
    order.push('second');
    giveBackSecond();
  });
  // Another name is another turn. Its answer comes after the server has read the second request.
  (await takeTurn('another'))();
  order.push('first gives back');
  giveBack();
  await second;
  expect(order).toEqual(['first gives back', 'second']);
});
