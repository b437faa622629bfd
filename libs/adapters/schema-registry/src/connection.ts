import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duration } from '@carillon/kernel';

/** How to reach a registry that speaks Confluent's interface. */
export type RegistryConnection = {
  /** The address of the interface, with its path: `https://registry:8081`, or `…/apis/ccompat/v7` at Apicurio. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  /** PEM texts, where the registry's certificate is not one that Node trusts, or it asks for ours. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** How long one call may take, its repetitions included. */
  readonly timeout?: Duration;
};

export const TIMEOUT: Duration = 15_000;

/** Keeps connections, and brings our certificates. */
export const agentOf = ({ url, tls }: RegistryConnection): HttpAgent | HttpsAgent =>
  url.startsWith('https:') ? new HttpsAgent({ keepAlive: true, ...tls }) : new HttpAgent({ keepAlive: true });
