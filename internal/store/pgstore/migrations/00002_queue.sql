-- +goose Up

-- The queue of runs. Its columns are not in session: workers change them every few seconds, and lists know sessions by
-- the versions of their rows. An id is queued once in a tenant. Infinite times are times that are not set.
create table queue_entry (
  tenant_id     bigint not null,
  project_id    bigint not null,
  session_id    uuid not null,
  state         text not null,
  labels        text[] not null,
  run           bytea not null,
  queued_by     text not null,
  base          text not null,
  remote        text not null,
  queued_at     timestamptz not null default clock_timestamp(),
  changed_at    timestamptz not null default clock_timestamp(),
  not_before    timestamptz not null default '-infinity',
  -- worker is the one with the lease, until it gives the lease back.
  worker        text not null default '',
  lease_no      bigint not null default 0,
  lease_until   timestamptz not null default '-infinity',
  -- released_no is the number of the last lease that was given back, call the last call that queued or claimed: a
  -- call whose answer was lost finds out by them that it is done.
  released_no   bigint not null default 0,
  call          text not null,
  asking        int not null default 0,
  calls         int not null default 0,
  repeated      int not null default 0,
  workers_lost  int not null default 0,
  spent         bigint not null default 0,
  why           text not null default '',
  kept          bytea,
  head          text not null default '',
  work          bytea,
  primary key (tenant_id, session_id),
  foreign key (tenant_id, project_id, session_id) references session on delete cascade
) with (fillfactor = 70);
alter table queue_entry alter column work set storage external;
create index queue_entry_open on queue_entry (tenant_id, queued_at, session_id) where state in ('ready', 'working');
create index queue_entry_working on queue_entry (tenant_id) where state = 'working';

create table queue_worker (
  tenant_id bigint not null,
  worker_id text collate "C" not null,
  host      text not null,
  version   text not null,
  labels    text[] not null,
  projects  text[] not null,
  seen_at   timestamptz not null,
  primary key (tenant_id, worker_id)
);

-- 0 is a limit that is not set.
create table queue_limit (
  tenant_id        bigint not null,
  max_workers      bigint not null,
  max_cost_per_day bigint not null,
  primary key (tenant_id)
);

-- What the runs of a day have cost, in nano-dollars; days are in UTC.
create table queue_day (
  tenant_id bigint not null,
  day       date not null,
  spent     numeric not null,
  primary key (tenant_id, day)
);

alter table queue_entry enable row level security;
alter table queue_entry force row level security;
alter table queue_worker enable row level security;
alter table queue_worker force row level security;
alter table queue_limit enable row level security;
alter table queue_limit force row level security;
alter table queue_day enable row level security;
alter table queue_day force row level security;
create policy tenant on queue_entry using (tenant_id = (select nullif(current_setting('bmad.tenant', true), '')::bigint));
create policy tenant on queue_worker using (tenant_id = (select nullif(current_setting('bmad.tenant', true), '')::bigint));
create policy tenant on queue_limit using (tenant_id = (select nullif(current_setting('bmad.tenant', true), '')::bigint));
create policy tenant on queue_day using (tenant_id = (select nullif(current_setting('bmad.tenant', true), '')::bigint));
