import time
def test_it(cluster, druid):
    print(druid.data_sources(), cluster.services, flush=True)
    open('/tmp/dev/d/probe_up','w').write(str(cluster.home))
    time.sleep(300)
