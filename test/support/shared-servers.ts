import { request } from 'node:http';
import { inject } from 'vitest';
import type { Addresses } from './servers-of-a-run.ts';

/**
 * The server of this run, started when the first test asks for it. Others use it at the same time: make a database of your
 * own in it, and subjects and schemas of your own. Nobody kills it; who wants to starts one of their own.
 */
export async function sharedServer<Name extends keyof Addresses>(name: Name): Promise<Addresses[Name]> {
  const answer = await fetch(`${inject('serversOfRun')}/${name}`);
  if (!answer.ok) throw new Error(`${name} could not be started: ${await answer.text()}`);
  return (await answer.json()) as Addresses[Name];
}

/**
 * Waits until nobody else has the turn of this name, and answers how to give it back. Topics have fixed names, so whoever
 * makes some on the shared broker takes the turn `topics` for as long as it needs them.
 */
export function takeTurn(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const asking = request(`${inject('serversOfRun')}/turns/${name}`, (answer) => {
      answer.on('error', () => undefined).resume();
      if (answer.statusCode === 200) resolve(() => asking.destroy());
      else reject(new Error(`no turn ${name}: status ${answer.statusCode}`));
    });
    asking.on('error', reject).end();
  });
}
