-- MySQL dump 10.19
/*!40101 SET NAMES utf8 */;
DROP TABLE IF EXISTS `hpc_assoc_table`;
CREATE TABLE `hpc_assoc_table` (
  `id_assoc` int(10) unsigned NOT NULL,
  `user` int(10) unsigned NOT NULL,
  `acct` int(10) unsigned NOT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB;
LOCK TABLES `hpc_assoc_table` WRITE;
INSERT INTO `hpc_assoc_table` VALUES (1,'ann','physics'),(2,'bob','physics'),(3,'cho','physics'),(4,'dörte','physics');
UNLOCK TABLES;
DROP TABLE IF EXISTS `hpc_event_table`;
CREATE TABLE `hpc_event_table` (
  `time_start` int(10) unsigned NOT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB;
LOCK TABLES `hpc_event_table` WRITE;
INSERT INTO `hpc_event_table` VALUES (7);
UNLOCK TABLES;
DROP TABLE IF EXISTS `hpc_job_table`;
CREATE TABLE `hpc_job_table` (
  `job_db_inx` int(10) unsigned NOT NULL,
  `deleted` int(10) unsigned NOT NULL,
  `account` int(10) unsigned NOT NULL,
  `cpus_req` int(10) unsigned NOT NULL,
  `exit_code` int(10) unsigned NOT NULL,
  `job_name` int(10) unsigned NOT NULL,
  `id_assoc` int(10) unsigned NOT NULL,
  `id_array_job` int(10) unsigned NOT NULL,
  `id_array_task` int(10) unsigned NOT NULL,
  `array_task_str` int(10) unsigned NOT NULL,
  `id_job` int(10) unsigned NOT NULL,
  `id_qos` int(10) unsigned NOT NULL,
  `id_user` int(10) unsigned NOT NULL,
  `id_group` int(10) unsigned NOT NULL,
  `het_job_id` int(10) unsigned NOT NULL,
  `het_job_offset` int(10) unsigned NOT NULL,
  `mem_req` int(10) unsigned NOT NULL,
  `nodelist` int(10) unsigned NOT NULL,
  `nodes_alloc` int(10) unsigned NOT NULL,
  `partition` int(10) unsigned NOT NULL,
  `state` int(10) unsigned NOT NULL,
  `timelimit` int(10) unsigned NOT NULL,
  `time_submit` int(10) unsigned NOT NULL,
  `time_eligible` int(10) unsigned NOT NULL,
  `time_start` int(10) unsigned NOT NULL,
  `time_end` int(10) unsigned NOT NULL,
  `time_suspended` int(10) unsigned NOT NULL,
  `wckey` int(10) unsigned NOT NULL,
  `tres_alloc` int(10) unsigned NOT NULL,
  `tres_req` int(10) unsigned NOT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB;
LOCK TABLES `hpc_job_table` WRITE;
INSERT INTO `hpc_job_table` VALUES (1,0,'physics',8,0,'simulate',1,0,4294967294,NULL,101,1,1000,100,0,4294967294,9223372036854776320,'cn[1-4]',1,'batch',1027,120,1735689600,1735689600,1735689660,1735693260,0,'','1=8,2=32768,4=1,5=8,3=18446744073709551614','1=8,2=32768,4=1,5=8'),(2,0,'chemistry',16,0,'train',2,0,4294967294,NULL,102,2,1000,100,0,4294967294,9223372036854776320,'cn[1-4]',2,'gpu',1030,120,1735689700,1735693300,1735693400,1735700600,600,'','1=16,2=65536,4=2,5=64,1001=4,1002=4,3=18446744073709551614','1=16,2=65536,4=2,5=64,1001=4'),(3,0,'physics',1,0,'sweep',1,103,1,NULL,104,1,1000,100,0,4294967294,9223372036854776320,'cn[1-4]',1,'batch',1027,60,1735690000,1735690000,1735690100,1735690400,0,'','1=1,2=1024,4=1,5=1,3=18446744073709551614','1=1,2=1024,4=1,5=1'),(4,0,'physics',1,9,'sweep',1,103,2,NULL,103,1,1000,100,0,4294967294,9223372036854776320,'cn[1-4]',1,'batch',1035,60,1735690000,1735690000,1735690200,1735690300,0,'','1=1,2=1024,4=1,5=1,3=18446744073709551614','1=1,2=1024,4=1,5=1'),(5,0,'physics',4,0,'simulate',1,0,4294967294,NULL,105,1,1000,100,105,0,9223372036854776320,'cn[1-4]',1,'batch',1027,4294967295,1735691000,1735691000,1735691500,1735692500,0,'','1=4,2=4000,4=1,5=4,3=18446744073709551614','1=4,2=4000,4=1,5=4'),(6,0,'physics',2,0,'simulate',1,0,4294967294,NULL,106,1,1000,100,105,1,9223372036854776320,'cn[1-4]',1,'batch',1027,4294967295,1735691000,1735691000,1735691500,1735692500,0,'','1=2,2=1536,4=1,5=2,3=18446744073709551614','1=2,2=1536,4=1,5=2'),(7,0,'physics',1,0,'simulate',3,0,4294967294,NULL,107,1,1000,100,0,4294967294,9223372036854776320,'None assigned',0,'batch',1028,4294967295,1735692000,1735692000,0,1735692050,0,'','','1=1,2=1024,4=1,5=1'),(8,0,'physics',1,0,'simulate',3,0,4294967294,NULL,108,1,1000,100,0,4294967294,9223372036854776320,'None assigned',0,'batch',1024,1440,1735693000,1735693000,0,0,0,'','','1=1,2=1024,4=1,5=1'),(9,0,'physics',1,0,'simulate',2,0,4294967294,NULL,109,1,1000,100,0,4294967294,9223372036854776320,'cn[1-4]',1,'batch',1025,4294967295,1735693100,1735693100,1735693100,0,0,'','1=1,2=1024,4=1,5=1,3=18446744073709551614','1=1,2=1024,4=1,5=1'),(10,0,'physics',8,768,'simulate',1,0,4294967294,NULL,110,1,1000,100,0,4294967294,9223372036854776320,'cn[1-4]',1,'batch',1029,4294967295,1735694000,1735694000,1735694060,1735697660,0,'','1=8,2=32768,4=1,5=8,3=18446744073709551614','1=8,2=32768,4=1,5=8');
UNLOCK TABLES;
DROP TABLE IF EXISTS `hpc_step_table`;
CREATE TABLE `hpc_step_table` (
  `job_db_inx` int(10) unsigned NOT NULL,
  `deleted` int(10) unsigned NOT NULL,
  `exit_code` int(10) unsigned NOT NULL,
  `id_step` int(10) unsigned NOT NULL,
  `step_name` int(10) unsigned NOT NULL,
  `nodes_alloc` int(10) unsigned NOT NULL,
  `task_cnt` int(10) unsigned NOT NULL,
  `time_start` int(10) unsigned NOT NULL,
  `time_end` int(10) unsigned NOT NULL,
  `user_sec` int(10) unsigned NOT NULL,
  `user_usec` int(10) unsigned NOT NULL,
  `sys_sec` int(10) unsigned NOT NULL,
  `sys_usec` int(10) unsigned NOT NULL,
  `consumed_energy` int(10) unsigned NOT NULL,
  `tres_usage_in_ave` int(10) unsigned NOT NULL,
  `tres_usage_in_max` int(10) unsigned NOT NULL,
  `tres_usage_in_tot` int(10) unsigned NOT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB;
LOCK TABLES `hpc_step_table` WRITE;
INSERT INTO `hpc_step_table` VALUES (1,0,0,-5,'it\'s a \\ step (of many); \',(',1,1,1735689660,1735693260,25000,0,0,0,800000,'1=25000000,2=9663676416','1=25000000,2=9663676416','1=25000000,2=9663676416'),(1,0,0,-4,'it\'s a \\ step (of many); \',(',1,1,1735689660,1735693260,0,0,0,0,950000,'1=0,2=1048576','1=0,2=1048576','1=0,2=1048576'),(1,0,0,0,'it\'s a \\ step (of many); \',(',1,4,1735689700,1735693000,3000,0,0,0,30000,'1=3000000,2=3221225472','1=3000000,2=4294967296','1=3000000,2=12884901888'),(2,0,0,-5,'it\'s a \\ step (of many); \',(',1,1,1735693400,1735700600,50000,0,0,0,0,'1=50000000,2=21474836480,1003=32212254720','1=50000000,2=21474836480,1003=32212254720','1=50000000,2=21474836480,1003=32212254720'),(3,0,0,-5,'it\'s a \\ step (of many); \',(',1,1,1735690100,1735690400,290,0,0,0,0,'1=290000','1=290000','1=290000');
UNLOCK TABLES;
DROP TABLE IF EXISTS `qos_table`;
CREATE TABLE `qos_table` (
  `id` int(10) unsigned NOT NULL,
  `name` int(10) unsigned NOT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB;
LOCK TABLES `qos_table` WRITE;
INSERT INTO `qos_table` VALUES (1,'normal'),(2,'high');
UNLOCK TABLES;
DROP TABLE IF EXISTS `tres_table`;
CREATE TABLE `tres_table` (
  `id` int(10) unsigned NOT NULL,
  `type` int(10) unsigned NOT NULL,
  `name` int(10) unsigned NOT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB;
LOCK TABLES `tres_table` WRITE;
INSERT INTO `tres_table` VALUES (1,'cpu',''),(2,'mem',''),(3,'energy',''),(4,'node',''),(5,'billing',''),(1001,'gres','gpu'),(1002,'gres','gpu:a100'),(1003,'gres','gpumem');
UNLOCK TABLES;
-- Dump completed
