import { sharedServer } from '../../support/shared-servers.ts';
import { demoFiles } from './demo-files.ts';
import { demoAt, type SharedDemo } from './support.ts';

const SHOP = 'workspaces/shop/';

/** Returns the product of this run, which starts when the first test asks for it. */
export async function sharedDemo(): Promise<SharedDemo> {
  const { control, gateway, ownerToken } = await sharedServer('product');
  return demoAt({ control, gateway }, ownerToken);
}

/** The same, with a new workspace that holds what the demo's workspace `shop` does. Its API key is called `backend`. */
export async function sharedDemoWith(workspace: string): Promise<SharedDemo> {
  const demo = await sharedDemo();
  const files = Object.entries(demoFiles())
    .filter(([path]) => path.startsWith(SHOP))
    .map(([path, text]) => [path.replace(SHOP, `workspaces/${workspace}/`), text]);
  await demo.makeKey(workspace, 'backend');
  await demo.apply(Object.fromEntries(files) as Record<string, string>);
  return demo;
}
