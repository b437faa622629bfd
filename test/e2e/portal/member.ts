import type { Browser, BrowserContext } from 'playwright-core';
import { expect } from 'vitest';
import type { Demo } from './support.ts';

/** A browser in which somebody is signed in who has one role in one workspace, and nothing else. */
export async function openMember(
  demo: Pick<Demo, 'ask' | 'control'>,
  browser: Browser,
  { workspace, role }: { readonly workspace: string; readonly role: 'owner' | 'editor' | 'operator' | 'viewer' },
): Promise<BrowserContext> {
  const email = `${role}-of-${workspace}@example.com`;
  const { word } = await demo.ask<{ word: string }>('/v1/invitations', { email, memberships: [{ workspace, role }] });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const answer = await context.request.post(`${demo.control}/v1/invitations/accept`, {
    data: { word, name: role, password: 'a long sentence nobody guesses' },
    headers: { 'x-carillon': '1' },
  });
  expect(answer.status()).toBe(200);
  return context;
}
