import { expect, test } from 'vitest';
import { imagesOf } from '../../src/services/containers/images.ts';

test('the images of a run are the published ones, each with its version', () => {
  for (const image of Object.values(imagesOf(''))) expect(image).toMatch(/^[\w./-]+:\d+\.\d+/);
});

test('a machine without access to a registry names its own images, all or some', () => {
  const given = imagesOf('kafka=localhost/kafka:1, registry=localhost/registry');
  expect(given).toEqual({ ...imagesOf(''), kafka: 'localhost/kafka:1', registry: 'localhost/registry' });
});

test.each(['postgres=localhost/postgres', 'kafka', 'kafka=', '=localhost/kafka', 'constructor=x'])(
  'the list %j is refused with the expected form',
  (list) => expect(() => imagesOf(list)).toThrow('it takes kafka=IMAGE,mongodb=IMAGE,registry=IMAGE'),
);
