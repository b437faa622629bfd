import './style/tokens.css';
import './style/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { countClicks } from './api/first-steps.ts';
import { queryClient } from './api/query-client.ts';
import { router } from './routes.tsx';
import { showTheme } from './ui/settings.ts';

showTheme();
countClicks();
const place = document.getElementById('app');
if (!place) throw new Error('index.html has no element app');
createRoot(place).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
