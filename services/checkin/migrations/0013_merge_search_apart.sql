-- Why: what new tickets bring to the search waits in a list until somebody puts it in its place, which takes tens of
-- milliseconds. A job of its own does so all the time; facts would do it, and wait for it, only where that job is away.
alter index position_by_search_text set (gin_pending_list_limit = 4096);
